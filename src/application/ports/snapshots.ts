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
