import type { OwnerStreams } from '../event-sourcing/owner-streams.js';
import type { LiveFeed } from '../event-sourcing/live-feed/live-feed.js';
import type { PadRef } from '../ports/pad-keys.js';
import type { PersonalDataKeys } from '../ports/personal-data-keys.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';
import { LedgerConsistency } from './consistency.js';

/** What pads stand on; one set for a process. */
export interface ScratchpadNeeds {
  readonly scratchpadStore: ScratchpadStore;
  readonly live: Pick<LiveFeed, 'follow' | 'singleFlight'>;
  readonly personalDataKeys: PersonalDataKeys;
}

/** One pad, as one command of its owner meets it. */
export class PadContext {
  readonly ref: PadRef;
  readonly store: ScratchpadStore;
  readonly consistency: LedgerConsistency;

  constructor(
    readonly streams: OwnerStreams,
    { scratchpadStore }: Pick<ScratchpadNeeds, 'scratchpadStore'>,
    readonly scratchpadId: string,
  ) {
    this.ref = { ownerId: streams.ownerId, scratchpadId };
    this.store = scratchpadStore;
    this.consistency = new LedgerConsistency(this.ref, streams, scratchpadStore);
  }
}
