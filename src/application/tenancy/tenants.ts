import { randomUUID } from 'node:crypto';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import { derivedUuid } from '../kernel/ids.js';
import type { ReadDbs, Watermark } from '../ports/read-models.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';
import type { SystemWork } from '../reactions/reaction.js';
import { makeStreams, type Streams, type StreamsNeeds } from '../event-sourcing/aggregates.js';
import type { CredentialVault } from '../ports/credential-vault.js';

export interface SystemNeeds extends StreamsNeeds {
  readonly dbs: ReadDbs;
  readonly readModels: Watermark;
  readonly working: ScratchpadStore;
  readonly vault: CredentialVault;
}

const shownWithinMs = 10_000;

/** The system acting because of an event: as the event's owner, with the event as its cause. */
export const systemWorkFor =
  (needs: SystemNeeds) =>
  (event: DecodedEvent): SystemWork =>
    systemWork(needs, {
      ownerId: event.metadata.ownerId,
      correlationId: event.metadata.$correlationId,
      causationId: event.id,
      commandId: derivedUuid('reaction', event.id),
    });

/** The system acting on a tenant's behalf. */
export const systemWork = (
  needs: SystemNeeds,
  context: {
    readonly ownerId: string;
    readonly correlationId: string;
    readonly causationId?: string;
    readonly commandId: string;
  },
): SystemWork => ({
  streams: makeStreams(needs, { ...context, actor: { type: 'system', id: 'palimpsest' } }),
  working: needs.working,
  vault: needs.vault,
  subjects: needs.subjects,
  db: needs.dbs.system,
  shown: (position) => needs.readModels.waitFor(position, shownWithinMs),
});

/** The system's own commands, outside any event: bootstrapping, maintenance. */
export const systemStreams = (needs: SystemNeeds, ownerId: string, commandId: string): Streams =>
  systemWork(needs, { ownerId, commandId, correlationId: randomUUID() }).streams;
