import { findFullyCovered } from '../../../../projections/scratchpads.js';
import type { PadRef, PadState } from '../../ports/pad-keys.js';
import type { ReadDbs } from '../../ports/read-models.js';

/** How far a ledger was when it was looked at, and when that was, in milliseconds. */
export interface Observation {
  readonly generation: number;
  readonly length: number;
  readonly at: number;
}

const remembered = 20_000;

/**
 * What pads looked like at an earlier look. What a ledger held then should have been told of by now, and most often the
 * read model says that it was: then the stream, which may grow fast, need not be read again.
 */
export class LedgerObservations {
  private readonly byPad = new Map<string, Observation>();

  constructor(
    private readonly db: ReadDbs['system'],
    /** How long writers have to tell of their entries. */
    private readonly graceMs: number,
  ) {}

  of({ scratchpadId }: PadRef): Observation | undefined {
    return this.byPad.get(scratchpadId);
  }

  /** Of these pads, by id, the ones of which everything was told that should have been, with the highest index that was. */
  async fullyCovered(pads: readonly PadRef[], now: number): Promise<ReadonlyMap<string, number>> {
    const due = pads.flatMap((pad) => {
      const sight = this.of(pad);
      return sight && now - sight.at >= this.graceMs ? [{ ...pad, ...sight }] : [];
    });
    if (due.length === 0) return new Map();
    // A read model that cannot say, as while a new form of it is being built, is like one that is behind.
    return findFullyCovered(this.db, due).catch(() => new Map());
  }

  /** A sight that is still too young to be of use is kept. */
  remember(pad: PadRef, { ledger }: PadState, now: number): void {
    const before = this.of(pad);
    if (ledger && before && now - before.at < this.graceMs) return;
    this.byPad.delete(pad.scratchpadId);
    if (!ledger) return;
    this.byPad.set(pad.scratchpadId, { ...ledger, at: now });
    const [oldest] = this.byPad.size > remembered ? this.byPad.keys() : [];
    if (oldest !== undefined) this.byPad.delete(oldest);
  }
}
