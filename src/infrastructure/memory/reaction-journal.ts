import type { StoredEvent } from '../../application/ports/event-store.js';
import {
  CheckpointMoved,
  type ParkedReaction,
  type ReactionJournal,
} from '../../application/ports/reaction-journal.js';

interface Parked extends ParkedReaction {
  readonly position: bigint;
  readonly fault: string;
}

/** A journal for as long as the process lives. */
export class MemoryReactionJournal implements ReactionJournal {
  private position = -1n;
  private entries: readonly Parked[] = [];

  checkpoint(): Promise<bigint> {
    return Promise.resolve(this.position);
  }

  async advance(from: bigint, to: bigint): Promise<void> {
    if (this.position !== from) throw new CheckpointMoved();
    this.position = to;
  }

  park(reaction: string, { id, stream, revision, position }: StoredEvent, fault: string): Promise<void> {
    if (this.entries.some((entry) => entry.reaction === reaction && entry.eventId === id)) return Promise.resolve();
    this.entries = [...this.entries, { reaction, eventId: id, stream, revision, position, fault }].sort((one, other) =>
      Number(one.position - other.position),
    );
    return Promise.resolve();
  }

  unpark(reaction: string, eventId: string): Promise<void> {
    this.entries = this.entries.filter((entry) => entry.reaction !== reaction || entry.eventId !== eventId);
    return Promise.resolve();
  }

  parked(): Promise<readonly Parked[]> {
    return Promise.resolve(this.entries);
  }
}
