import { LRUCache } from 'lru-cache';
import { findFullyCovered } from '../../../../projections/ledgers.js';
import type { LedgerExtent } from '../../../domain/scratchpad/ledger-list.js';
import type { PadRef, PadState } from '../../ports/pad-keys.js';
import type { ReadDb } from '../../ports/read-models.js';

/** How far a ledger reached at an audit, and when that was, in milliseconds. */
export interface Observation extends LedgerExtent {
  readonly at: number;
}

const remembered = 20_000;

/**
 * Remembers each ledger's length at the last audit.
 * Why: when the read model already covers that length, the auditor need not read the stream, which may grow fast.
 * Fails when: the read model is behind or being rebuilt → the ledger counts as not covered.
 */
export class LedgerObservations {
  private readonly byPad = new LRUCache<string, Observation>({ max: remembered });

  constructor(
    private readonly reads: ReadDb,
    /** How long writers have to record their entries. */
    private readonly graceMs: number,
  ) {}

  of({ scratchpadId }: PadRef): Observation | undefined {
    return this.byPad.get(scratchpadId);
  }

  /** The highest covered index of these pads, by id, for those whose observed length is covered. */
  async fullyCovered(pads: readonly PadRef[], now: number): Promise<ReadonlyMap<string, number>> {
    const due = pads.flatMap((pad) => {
      const seen = this.of(pad);
      return seen && now - seen.at >= this.graceMs ? [{ ...pad, ...seen }] : [];
    });
    if (due.length === 0) return new Map();
    return findFullyCovered(this.reads, due).catch(() => new Map());
  }

  /** Keeps an earlier observation that is still too young to be of use. */
  remember(pad: PadRef, { ledger }: PadState, now: number): void {
    const before = this.of(pad);
    if (ledger && before && now - before.at < this.graceMs) return;
    if (ledger) this.byPad.set(pad.scratchpadId, { ...ledger, at: now });
    else this.byPad.delete(pad.scratchpadId);
  }
}
