/** An event about to be stored. `id` is a uuid; equal ids at the same expectation make a retry harmless. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An event as the store keeps it: not upcast, personal fields still sealed. Positions are strictly increasing and sparse. */
export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: bigint;
}

/** What the stream must look like for an append to happen: empty, anything, or its last revision. */
export type Expected = 'none' | 'any' | number;

export interface Appended {
  readonly revision: number;
  readonly position: bigint;
}

export interface Subscription {
  stop(): Promise<void>;
}

export interface SubscriptionListener {
  /** Batches arrive in position order, the next one only after the promise of the last has settled (back-pressure). */
  events(batch: readonly StoredEvent[]): Promise<void>;
  /** Every event up to `position` that the subscription selects has been delivered. */
  caughtUp?(position: bigint): void;
  /** So long, in milliseconds, events of these types may wait for others to come, as long as nothing else does. */
  readonly deferrable?: { readonly types: ReadonlySet<string>; readonly ms: number };
}

/** The event store. System streams (`$…`) are never shown. */
export interface EventStore {
  /** Appends atomically. Throws WrongRevision, OutcomeUnknown, BackendUnavailable, Overloaded. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended>;
  /** Events from `from` (a revision, inclusive), oldest first, at most `limit` (default: all). A missing stream is empty. */
  readStream(stream: string, from?: number, limit?: number): Promise<readonly StoredEvent[]>;
  /** The last event of a stream, if there is one. */
  lastEvent(stream: string): Promise<StoredEvent | undefined>;
  /** Events of all streams after `after` (exclusive; undefined: from the start), in position order, at most `limit`. */
  readAll(after: bigint | undefined, limit: number): Promise<readonly StoredEvent[]>;
  /** Position of the last event of all streams, or 0n. */
  headPosition(): Promise<bigint>;
  /**
   * Catches up from `after` (exclusive), then stays live; reconnects by itself until stopped. A listener that throws is
   * called again with the same batch. With `types`, only events of these types are delivered.
   */
  subscribe(after: bigint | undefined, listener: SubscriptionListener, types?: readonly string[]): Subscription;
}
