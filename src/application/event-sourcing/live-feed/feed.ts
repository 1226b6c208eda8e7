import type { StoredEvent } from '../../ports/event-store.js';

/** Events that are told while they happen. However many follow them, a process reads the log once for all. */
export interface LiveFeed {
  /** The position that a follower who begins now begins after. */
  position(): Promise<bigint>;
  /**
   * One owner's events of these streams after a position: those that are stored, then each one soon after it is stored.
   * In the order of the log, without gap or repeat, in batches, until stopped. Who is slow slows nobody and fills no memory.
   */
  follow(wanted: LiveSelection, stopped: AbortSignal): AsyncIterable<readonly StoredEvent[]>;
  /** The position now, and then that of the latest event of an owner (undefined: of anyone) whenever there is news, until stopped. */
  positions(ownerId: string | undefined, stopped: AbortSignal): AsyncIterable<bigint>;
  /** Does work of this name once for all who ask for it while it is under way; nothing is kept of it afterwards. */
  singleFlight<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

export interface LiveSelection {
  readonly ownerId: string;
  readonly streams: readonly string[];
  /** Exclusive; 0n: from the first event on. */
  readonly after: bigint;
}
