import type { StoredEvent } from './event-store.js';

/** An event whose effect was given up. */
export interface ParkedReaction {
  readonly reaction: string;
  readonly eventId: string;
  readonly stream: string;
  readonly revision: number;
}

/** Another runner moved the checkpoint meanwhile: this one must end. */
export class CheckpointMoved extends Error {
  constructor() {
    super('Another runner is active.');
  }
}

/** What the reactions of an installation remember: one checkpoint that all share, and what was parked. */
export interface ReactionJournal {
  /** The position up to which every effect has happened or is parked; -1n before the first event. */
  checkpoint(): Promise<bigint>;
  /** Moves the checkpoint. Fails when: it is not at `from` → CheckpointMoved. */
  advance(from: bigint, to: bigint): Promise<void>;
  /** Parks the effect that a reaction could not have; once for each reaction and event. */
  park(reaction: string, event: StoredEvent, fault: string): Promise<void>;
  unpark(reaction: string, eventId: string): Promise<void>;
  /** What is parked, in the order of the log. */
  parked(): Promise<readonly ParkedReaction[]>;
}
