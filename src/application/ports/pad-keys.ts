import type { LedgerExtent } from '../../domain/scratchpad/ledger-list.js';

/** Names one pad in the scratchpad store. The owner is part of every key, so another tenant's pad is absent. */
export interface PadRef {
  readonly ownerId: string;
  readonly scratchpadId: string;
}

/** What the store holds of a pad, finished or not. */
export interface PadState {
  /** Undefined when the ledger is missing. */
  readonly ledger: LedgerExtent | undefined;
  /** Undefined when the content is missing. */
  readonly contentRevision: number | undefined;
  /** When the content was made or last promoted, RFC 3339. */
  readonly at: string;
  readonly staged: readonly { readonly revision: number; readonly eventId: string }[];
  /** Clears whose removed entries are still kept aside. */
  readonly unfinishedClearIds: readonly string[];
  /** How many idempotency keys of appends are remembered. */
  readonly idempotencyKeys: number;
}

/**
 * Whether a pad has keys in the store. Invariant: existence is decided by the streams; only `create` makes keys.
 * Fails when: the outcome is not known → BackendUnavailable.
 */
export interface PadKeys {
  /**
   * Makes the keys that are absent; a pad that has them is left as it is. With `ledger`, a new list continues where the
   * lost one was: `length` indexes are taken and hold no entry.
   */
  create(pad: PadRef, at: string, ledger?: LedgerExtent): Promise<void>;
  /** Removes every key of the pad and answers how many there were. */
  destroy(pad: PadRef): Promise<number>;
  exists(pad: PadRef): Promise<boolean>;
  state(pad: PadRef): Promise<PadState>;
}
