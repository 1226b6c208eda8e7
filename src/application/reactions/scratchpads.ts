import { key, revoke } from '../../domain/key/key.js';
import { detachScratchpad, thread } from '../../domain/thread/thread.js';
import { user } from '../../domain/user/user.js';
import { eraseOwner } from '../erasure/erase-owner.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { PurgeQueue } from '../ports/work-queues.js';
import type { Tenant } from '../tenancy/tenant.js';
import type { Reaction } from './reaction.js';

export interface ScratchpadReactionNeeds {
  /** The owner of an event, for the system that acts because of it. */
  readonly tenantOf: (event: DecodedEvent) => Tenant;
  readonly purges: PurgeQueue;
  /** Waits, bounded, until the read models show a position. */
  readonly awaitPosition: (position: bigint) => Promise<boolean>;
}

/**
 * Completes what a command left half done when its process died: everything after a commit point can be repeated from the
 * event (docs/flows.md#reactions). Invariant: each step is idempotent; most find nothing left to do.
 */
export function scratchpadReaction({ tenantOf, purges, awaitPosition }: ScratchpadReactionNeeds): Reaction {
  const erase = (event: DecodedEvent) => eraseOwner(tenantOf(event), event.position, awaitPosition);
  return {
    name: 'scratchpad_life',
    on: {
      async 'key.created'(event) {
        const { aggregates } = tenantOf(event);
        // It opens nothing, because its owner is erased; revoked, it also says so.
        if (await isOwnerErased(event, aggregates)) await aggregates.execute(key, String(event.data['keyId']), revoke);
      },
      async 'thread.created'(event) {
        if (await isOwnerErased(event, tenantOf(event).aggregates)) await erase(event);
      },
      'thread.scratchpad_attached': (event) => provisionAttached(event, tenantOf(event)),
      async 'thread.scratchpad_detached'(event) {
        await tenantOf(event).scratchpads.remove(idsIn(event).scratchpadId);
      },
      async 'thread.deleted'(event) {
        const { scratchpadId } = event.data;
        if (typeof scratchpadId === 'string') await tenantOf(event).scratchpads.remove(scratchpadId);
      },
      async 'scratchpad.deleted'(event) {
        await purges.purge({ ownerId: event.metadata.ownerId, scratchpadId: idsIn(event).scratchpadId });
      },
      'user.erased': erase,
    },
  };
}

async function provisionAttached(event: DecodedEvent, { aggregates, scratchpads }: Tenant): Promise<void> {
  const { threadId, scratchpadId } = idsIn(event);
  if (await isOwnerErased(event, aggregates)) {
    await aggregates.execute(thread, threadId, (state) => detachScratchpad(state, scratchpadId));
    return scratchpads.remove(scratchpadId);
  }
  const now = await aggregates.load(thread, threadId);
  if (now.status === 'open' && now.scratchpadId === scratchpadId) {
    await scratchpads.provision({ scratchpadId, threadId });
  }
}

const isOwnerErased = async (
  { metadata: { ownerId }, position }: DecodedEvent,
  aggregates: Tenant['aggregates'],
): Promise<boolean> => (await aggregates.load(user, ownerId, position)).status === 'erased';

/** The ids that an event of a thread or a scratchpad names; its schema was checked when it was decoded. */
const idsIn = ({ data }: DecodedEvent): { readonly threadId: string; readonly scratchpadId: string } => ({
  threadId: String(data['threadId']),
  scratchpadId: String(data['scratchpadId']),
});
