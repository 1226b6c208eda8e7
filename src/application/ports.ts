import type { Sql } from '../../projections/kit/sql.js';

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

/** Another writer was first. The true revision is found by reading, never taken from the error (E7). */
export class WrongRevision extends Error {
  constructor(readonly stream: string) {
    super('The stream has moved on.');
  }
}

/** No answer in time: the append may or may not have happened. Read the stream to know; never compensate (03-flows, rule 3). */
export class OutcomeUnknown extends Error {
  constructor(readonly stream: string) {
    super('The event store did not answer in time.');
  }
}

/** A backend cannot be reached or refuses work. */
export class BackendUnavailable extends Error {
  constructor(
    readonly backend: 'eventstore' | 'postgres' | 'redis' | 'kms',
    options?: ErrorOptions,
  ) {
    super(`The ${backend} backend is not available.`, options);
  }
}

/** More is asked of a backend at once than it keeps up with. What was refused so has not happened. */
export class Overloaded extends BackendUnavailable {}

export interface Subscription {
  stop(): Promise<void>;
}

export interface SubscriptionListener {
  /** Batches arrive in position order, the next one only after the promise of the last has settled (back-pressure). */
  events(batch: readonly StoredEvent[]): Promise<void>;
  /** Every event up to `position` that the subscription selects has been delivered. */
  caughtUp?(position: bigint): void;
  /** So long, in milliseconds, events of these types may wait for others to come, as long as nothing else does. */
  readonly unhurried?: { readonly types: ReadonlySet<string>; readonly ms: number };
}

/** The event store. System streams (`$…`) are never shown. */
export interface EventLog {
  /** Appends atomically. Throws WrongRevision, OutcomeUnknown, BackendUnavailable, Overloaded. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended>;
  /** Events from `from` (a revision, inclusive), oldest first, at most `limit` (default: all). A missing stream is empty. */
  readStream(stream: string, from?: number, limit?: number): Promise<readonly StoredEvent[]>;
  /** The last event of a stream, if there is one. */
  last(stream: string): Promise<StoredEvent | undefined>;
  /** Events of all streams after `after` (exclusive; undefined: from the start), in position order, at most `limit`. */
  readAll(after: bigint | undefined, limit: number): Promise<readonly StoredEvent[]>;
  /** Position of the last event of all streams, or 0n. */
  head(): Promise<bigint>;
  /**
   * Catches up from `after` (exclusive), then stays live; reconnects by itself until stopped. A listener that throws is
   * called again with the same batch. With `types`, only events of these types are delivered.
   */
  subscribe(after: bigint | undefined, listener: SubscriptionListener, types?: readonly string[]): Subscription;
}

/** Events that are told while they happen. However many follow them, a process reads the log once for all. */
export interface LiveEvents {
  /** The position that a follower who begins now begins after. */
  position(): Promise<bigint>;
  /**
   * One owner's events of these streams after a position: those that are stored, then each one soon after it is stored.
   * In the order of the log, without gap or repeat, in batches, until stopped. Who is slow slows nobody and fills no memory.
   */
  follow(wanted: LiveSelection, stopped: AbortSignal): AsyncIterable<readonly StoredEvent[]>;
  /** The position now, and then that of the latest event of an owner (undefined: of anyone) whenever there is news, until stopped. */
  latest(ownerId: string | undefined, stopped: AbortSignal): AsyncIterable<bigint>;
  /** Does work of this name once for all who ask for it while it is under way; nothing is kept of it afterwards. */
  together<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

export interface LiveSelection {
  readonly ownerId: string;
  readonly streams: readonly string[];
  /** Exclusive; 0n: from the first event on. */
  readonly after: bigint;
}

/** Rows of the read models, as one tenant sees them (row-level security stands behind every query). */
export interface ReadDb {
  rows<Row extends Record<string, unknown>>(query: Sql): Promise<readonly Row[]>;
}

export interface ReadDbs {
  /** Reads as one tenant: other owners' rows do not exist. */
  for(ownerId: string): ReadDb;
  /** Reads across tenants, for auditors and the system's own work. Never handed to an operation without that role. */
  readonly system: ReadDb;
}

/** How far the read models are: the position up to which every event is in rows. */
export interface ReadModels {
  /** True once the read models show `position`; false when `timeoutMs` passed first. */
  reached(position: bigint, timeoutMs: number): Promise<boolean>;
}

/** The owner's data key: seals personal text; what was sealed opens only with the same `context`. */
export interface SubjectKey {
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
}

/** The owner's data key was destroyed: nothing more may be written about them. */
export class SubjectErased extends Error {
  constructor() {
    super('The owner was erased.');
  }
}

/** Data keys, one per owner, wrapped by the KEK at rest. Destroying one is the erasure of all that it sealed. */
export interface SubjectKeys {
  /** The key to seal with, made at the first call. Throws SubjectErased. */
  toSeal(ownerId: string): Promise<SubjectKey>;
  /** The keys to open with; owners without a key (erased, or never had one) are left out. */
  toOpen(ownerIds: ReadonlySet<string>): Promise<ReadonlyMap<string, SubjectKey>>;
  /** For good, in every process within 5 s. Destroying twice is fine. */
  destroy(ownerId: string): Promise<void>;
}

/**
 * A folded aggregate at a revision, so that long streams load in constant time. States hold ids, counts and digests and
 * nothing personal, so that one may outlast its owner like the events it comes from.
 */
export interface Snapshot {
  readonly revision: number;
  readonly version: number;
  readonly state: unknown;
  readonly ownerId: string;
  /** Recent idempotency keys of the stream, oldest first. */
  readonly keys: readonly RecordedKey[];
}

/** What a stream remembers of one idempotent command: which events were its outcome. */
export interface RecordedKey {
  readonly key: string;
  readonly operation: string;
  readonly digest: string;
  readonly actorId: string;
  readonly from: number;
  readonly count: number;
}

export interface Snapshots {
  load(stream: string): Promise<Snapshot | undefined>;
  save(stream: string, snapshot: Snapshot): Promise<void>;
}

/** Names one scratchpad's working state: the owner is part of every key, so another tenant's pad is simply absent. */
export interface PadRef {
  readonly ownerId: string;
  readonly scratchpadId: string;
}

/** One element of the ledger, as Redis keeps it. Sizes in UTF-8 bytes, digest in hex. */
export interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly content: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly author: { readonly type: string; readonly id: string };
  readonly bytes: number;
  readonly sha256: string;
  readonly at: string;
  readonly correlationId: string;
}

export interface IndexedEntry extends Entry {
  /** Place in the ledger, from 1; names this entry alone until the ledger is cleared. */
  readonly index: number;
}

export interface PadContent {
  /** 0 until content was first set. */
  readonly revision: number;
  readonly content: string;
  readonly at: string;
}

/** A stretch of the ledger. What is lost, and what a retry pushed once more, keeps its index and is no entry. */
export interface LedgerElements {
  readonly entries: readonly IndexedEntry[];
  readonly lost: readonly number[];
  readonly repeats: readonly { readonly index: number; readonly entryId: string; readonly of: number }[];
  /** The last index of the whole ledger. */
  readonly length: number;
  /** Indexes of the whole ledger that hold no entry. */
  readonly gaps: number;
  /** How many clears the ledger has been through. */
  readonly clears: number;
  /** How often its elements were put in another order since. */
  readonly arranged: number;
}

export interface Pushed {
  readonly index: number;
  readonly clears: number;
  /** Set when an append under the same key had been made before: nothing was pushed, and this is what it was. */
  readonly before?: { readonly at: string; readonly digest: string };
}

/** What of a pad is under way or left over. */
export interface PadState {
  /** Undefined when the ledger is missing. */
  readonly ledger: { readonly clears: number; readonly length: number } | undefined;
  /** Undefined when the content is missing. */
  readonly contentRevision: number | undefined;
  /** When the content was made or last promoted. */
  readonly at: string;
  readonly staged: readonly { readonly revision: number; readonly eventId: string }[];
  /** Clears whose removed entries are still kept aside. */
  readonly unfinishedClears: readonly string[];
  /** How many keyed appends are remembered. */
  readonly keyed: number;
}

/**
 * The working state of scratchpads. Existence is decided by the streams; nothing here can bring a destroyed pad back:
 * every write but `create` does nothing on an absent one. Throws BackendUnavailable when the outcome is not known.
 */
export interface WorkingState {
  /**
   * Makes the keys if they are absent; a pad that has them is left as it is. With `ledger`, a new ledger goes on where
   * the lost one was: `length` indexes are given already, and hold nothing.
   */
  create(pad: PadRef, at: string, ledger?: { readonly clears: number; readonly length: number }): Promise<void>;
  /**
   * Appends to the ledger, or answers undefined when the pad is absent. One round trip, which also notes the pad for
   * the auditor. With a key, the same entry is pushed once, however often it is asked for (within the latest thousands).
   */
  append(pad: PadRef, entry: Entry, key?: { readonly digest: string }): Promise<Pushed | undefined>;
  /**
   * Elements with index above `after`, at most `limit`; undefined when the pad is absent. With `clearId`: of what that
   * clear removed, undefined when it is no longer kept aside.
   */
  entries(pad: PadRef, after: number, limit: number, clearId?: string): Promise<LedgerElements | undefined>;
  /**
   * The last elements, at most `limit`, and of them no more than take `bytes` where they are kept, but one in any case;
   * undefined when the pad is absent. One round trip.
   */
  latest(pad: PadRef, limit: number, bytes: number): Promise<LedgerElements | undefined>;
  /** Stages a text for the content event `eventId`; false when the pad is absent. Invisible until promoted. */
  stage(pad: PadRef, revision: number, eventId: string, content: string): Promise<boolean>;
  /**
   * Makes a staged text the content, unless a later revision already is. False when neither is: the staged text is gone,
   * or the pad is.
   */
  promote(pad: PadRef, revision: number, eventId: string, at: string): Promise<boolean>;
  /** Drops a staged text whose event was not appended. */
  unstage(pad: PadRef, revision: number, eventId: string): Promise<void>;
  content(pad: PadRef): Promise<PadContent | undefined>;
  /** Empties the ledger in one step, keeping the removed entries aside under `clearId` until `forgetCleared`; undefined when absent. */
  clearEntries(
    pad: PadRef,
    clearId: string,
  ): Promise<{ readonly count: number; readonly lastEntryId?: string } | undefined>;
  forgetCleared(pad: PadRef, clearId: string): Promise<void>;
  /** Removes every key of the pad and answers how many there were. */
  destroy(pad: PadRef): Promise<number>;
  exists(pad: PadRef): Promise<boolean>;
  state(pad: PadRef): Promise<PadState>;
  /**
   * Makes the ledger say what the stream knows: a ledger of an earlier era gives way to an empty one of this era, and
   * indexes up to `length` that were lost hold nothing from now on.
   */
  mend(pad: PadRef, ledger: { readonly clears: number; readonly length: number }): Promise<void>;
  /**
   * Puts the elements of a ledger in another order: at place n what stood at index `order[n]`, or nothing where that is 0.
   * Does nothing and answers false when the ledger is no longer as it was read (`ledger`). The keyed appends of `forget`
   * (entry ids) are not remembered any more.
   */
  rearrange(
    pad: PadRef,
    ledger: Pick<LedgerElements, 'clears' | 'length' | 'arranged'>,
    order: readonly number[],
    forget: readonly string[],
  ): Promise<boolean>;
  /** Marks an index as the repetition of an entry at an earlier one, if that entry is what stands there. */
  markRepeated(
    pad: PadRef,
    repeat: { readonly clears: number; readonly index: number; readonly entryId: string; readonly of: number },
  ): Promise<void>;
  /** Forgets all but the latest of the keyed appends it remembers. */
  pruneKeyed(pad: PadRef, keep: number): Promise<void>;
  /** Pads that were written to and not settled since, at most `limit`. */
  touched(limit: number): Promise<readonly PadRef[]>;
  /** The pad need not be looked at again until it is written to once more. */
  settled(pad: PadRef): Promise<void>;
  /** Every pad that has keys, each at least once, while others come and go. */
  scan(): AsyncIterable<PadRef>;
  /** Changes when the server was restarted: then it may have lost what it had not written to disk. */
  runId(): Promise<string>;
  /** Counts connections made: what was compared with the streams over an earlier one has to be compared again. */
  connection(): number;
  /** Was this pad compared with its streams since the connection was made? */
  isChecked(pad: PadRef): boolean;
  /** It was, over this connection. */
  checked(pad: PadRef, connection: number): void;
}

/** Background work that must happen, now and again later, until nothing is left of a deleted pad. */
export interface PurgeQueue {
  /** Enqueues both passes of the purge. Job ids name the pad and the pass, so asking twice is asking once. */
  purge(pad: PadRef): Promise<void>;
}

/** When a key was last used; written behind, at most once a minute per key. */
export interface KeyUsage {
  touch(keyId: string, ownerId: string): void;
}

/** Time comes from here, so that decisions stay pure. */
export interface Clock {
  now(): Date;
}

export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Counts for `/metrics`. Names are the metric names; labels come from closed lists. */
export interface Metrics {
  count(name: string, labels?: Readonly<Record<string, string>>): void;
  observe(name: string, value: number, labels?: Readonly<Record<string, string>>): void;
}
