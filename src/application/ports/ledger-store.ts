import type { LedgerExtent } from '../../domain/scratchpad/ledger-list.js';
import type { PadRef } from './pad-keys.js';

/** One entry as the list keeps it. Sizes in UTF-8 bytes, digest in hex. */
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
  /** Place in the ledger, from 1. Invariant: within a generation an index names this entry or none. */
  readonly index: number;
}

/** A part of a ledger. An index that is lost or a duplicate stays taken and holds no entry. */
export interface LedgerElements extends LedgerExtent {
  readonly entries: readonly IndexedEntry[];
  readonly lost: readonly number[];
  readonly duplicates: readonly { readonly index: number; readonly entryId: string; readonly of: number }[];
  /** Indexes of the whole ledger that hold no entry. */
  readonly holes: number;
  /** How often the list was reordered in this generation. */
  readonly layoutVersion: number;
}

export interface LedgerAppend {
  readonly index: number;
  readonly generation: number;
  /** Set when the same idempotency key had appended before: nothing was pushed, and this is what it had stored. */
  readonly earlier?: { readonly at: string; readonly digest: string };
}

/**
 * The ledger of a pad: a list that any number of writers append to.
 * Invariant: no call creates a list; on an absent pad each answers undefined.
 * Fails when: the outcome is not known → BackendUnavailable.
 */
export interface LedgerStore {
  /**
   * Appends an entry and marks the pad dirty, in one round trip. With a key, the same entry is pushed once, however often
   * it is asked for (within the latest thousands of keys).
   */
  append(pad: PadRef, entry: Entry, key?: { readonly digest: string }): Promise<LedgerAppend | undefined>;
  /**
   * Elements with index above `after`, at most `limit`. With `clearId`, of what that clear removed; undefined when it is
   * no longer kept aside.
   */
  read(pad: PadRef, after: number, limit: number, clearId?: string): Promise<LedgerElements | undefined>;
  /** The last elements, at most `limit` and at most `bytes` as stored, but at least one. One round trip. */
  tail(pad: PadRef, limit: number, bytes: number): Promise<LedgerElements | undefined>;
  /** Empties the ledger in one step and keeps the removed entries aside under `clearId` until `dropCleared`. */
  clear(pad: PadRef, clearId: string): Promise<{ readonly count: number; readonly lastEntryId?: string } | undefined>;
  dropCleared(pad: PadRef, clearId: string): Promise<void>;
}
