import type { LedgerExtent } from '../../domain/scratchpad/ledger-list.js';
import type { LedgerElements } from './ledger-store.js';
import type { PadRef } from './pad-keys.js';

/** Brings a list into agreement with its stream. Fails when: the outcome is not known → BackendUnavailable. */
export interface LedgerRepair {
  /**
   * Lifts the list to the generation and length that the stream knows: a list of an earlier generation gives way to an
   * empty one, and missing indexes up to `length` become holes.
   */
  fastForward(pad: PadRef, extent: LedgerExtent): Promise<void>;
  /**
   * Puts elements into another order: at place n what stood at index `order[n]`, or a hole where that is 0. Forgets the
   * idempotency keys of the entries in `forget`. Answers false and does nothing when the list is no longer as `seen`.
   */
  reorder(
    pad: PadRef,
    seen: Pick<LedgerElements, 'generation' | 'length' | 'layoutVersion'>,
    order: readonly number[],
    forget: readonly string[],
  ): Promise<boolean>;
  /** Marks an index as the duplicate of an entry at an earlier one, if that entry is what stands there. */
  markDuplicate(
    pad: PadRef,
    duplicate: { readonly generation: number; readonly index: number; readonly entryId: string; readonly of: number },
  ): Promise<void>;
  /** Forgets all but the latest `keep` idempotency keys of appends. */
  pruneIdempotencyKeys(pad: PadRef, keep: number): Promise<void>;
}
