import { key, revoke } from '../../domain/key/key.js';
import { user } from '../../domain/user/user.js';
import { detachScratchpad, thread } from '../../domain/thread/thread.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import { eraseOwner } from '../erasure/erase-owner.js';
import { removeScratchpad, provisionScratchpad } from '../scratchpad/lifecycle.js';
import type { PurgeQueue } from '../ports/work-queues.js';
import type { Reaction, SystemWork } from './reaction.js';

/**
 * Finishes what a command may have left half done when its process died: everything after a commit point can be done
 * again from the event, and here it is (03-flows). Each step is idempotent; most find nothing left to do.
 */
export const scratchpadReaction = (workFor: (event: DecodedEvent) => SystemWork, purges: PurgeQueue): Reaction => ({
  name: 'scratchpad_life',
  on: {
    async 'key.created'(event) {
      const work = workFor(event);
      // It opens nothing, as its owner is no more; revoked, it also says so.
      if (await ownerErased(event, work)) await work.streams.execute(key, String(event.data['keyId']), revoke);
    },
    async 'thread.created'(event) {
      const work = workFor(event);
      if (await ownerErased(event, work)) await eraseOwner(event.metadata.ownerId, event.position, work);
    },
    async 'thread.scratchpad_attached'(event) {
      const work = workFor(event);
      const { ownerId } = event.metadata;
      const { threadId, scratchpadId } = idsIn(event);
      if (await ownerErased(event, work)) {
        await work.streams.execute(thread, threadId, (state) => detachScratchpad(state, scratchpadId));
        return removeScratchpad(scratchpadId, ownerId, work);
      }
      const now = await work.streams.load(thread, threadId);
      if (now.status === 'open' && now.scratchpadId === scratchpadId) {
        await provisionScratchpad({ scratchpadId, threadId, ownerId }, work);
      }
    },
    async 'thread.scratchpad_detached'(event) {
      await removeScratchpad(idsIn(event).scratchpadId, event.metadata.ownerId, workFor(event));
    },
    async 'thread.deleted'(event) {
      const { scratchpadId } = event.data;
      if (typeof scratchpadId === 'string')
        await removeScratchpad(scratchpadId, event.metadata.ownerId, workFor(event));
    },
    async 'scratchpad.deleted'(event) {
      await purges.purge({ ownerId: event.metadata.ownerId, scratchpadId: idsIn(event).scratchpadId });
    },
    async 'user.erased'(event) {
      await eraseOwner(event.metadata.ownerId, event.position, workFor(event));
    },
  },
});

const ownerErased = async (
  { metadata: { ownerId }, position }: DecodedEvent,
  { streams }: SystemWork,
): Promise<boolean> => (await streams.load(user, ownerId, position)).status === 'erased';

/** The ids that an event of a thread or a scratchpad names; its schema was checked when it was decoded. */
const idsIn = ({ data }: DecodedEvent): { readonly threadId: string; readonly scratchpadId: string } => ({
  threadId: String(data['threadId']),
  scratchpadId: String(data['scratchpadId']),
});
