import type { StoredEvent } from '../engine/events.js';

/** What storage knows of a stream and of its metastream. */
export interface StoredHead {
  /** Last revision, -1 when nothing was ever written. Survives the removal of the events. */
  readonly last: number;
  readonly tombstoned: boolean;
  readonly metaLast: number;
  /** Data of the last metadata event. */
  readonly metadata: Buffer | undefined;
}

export interface ReadRange {
  /** Forwards the first one wanted, backwards the last one wanted: a revision, or a position of all events. */
  readonly from: number;
  readonly backwards: boolean;
  /** Storage may answer with fewer, but answers with none only when there are none. */
  readonly limit: number;
}

/** Where events are kept. What has been persisted is there for good, and readers see all of an append or nothing. */
export interface EventStorage {
  /** Heads of the streams named (never metastreams), in the same order. */
  heads(streams: readonly string[]): Promise<StoredHead[]>;
  /**
   * Stores events in the order of their positions, all or none. A rejection leaves it open which.
   * Only whoever holds the seat may call this.
   */
  persist(events: readonly StoredEvent[]): Promise<void>;
  readStream(stream: string, range: ReadRange): Promise<StoredEvent[]>;
  readAll(range: ReadRange): Promise<StoredEvent[]>;
  /** The highest position ever persisted, 0 before the first. */
  maxPosition(): Promise<number>;
}

/** The right to write, which one process at a time has. */
export interface WriterSeat {
  /**
   * Waits until no other process writes, then resolves with a promise that settles when the right is lost.
   * Rejects when `signal` is aborted. Calls back once when another process has the right.
   */
  claim(signal: AbortSignal, onWait: () => void): Promise<{ readonly lost: Promise<unknown> }>;
  /** Gives the right up, and waits until others may have it. */
  release(): Promise<void>;
}

/** Which events of a stream a scavenge removes: those below a revision, and those created before a time. */
export interface Removal {
  readonly stream: string;
  readonly below: number;
  /** Milliseconds since the Unix epoch, undefined when the stream has no maximum age. */
  readonly createdBefore: number | undefined;
}

export interface Scavengable {
  /** Streams that have metadata or a tombstone, a page at a time, by name. */
  truncatable(after: string, limit: number): Promise<string[]>;
  /** Deletes for good and answers how many events went. Last revisions stay known. */
  remove(removal: Removal): Promise<number>;
}

export interface Store extends EventStorage, WriterSeat, Scavengable {
  close(): Promise<void>;
}
