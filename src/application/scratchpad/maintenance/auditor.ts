import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { runParallel } from '../../kernel/concurrency/run-parallel.js';
import type { PadRef, PadState } from '../../ports/pad-keys.js';
import { completeClear } from '../entries/clear.js';
import type { PadContext } from '../pad-context.js';
import { auditEntries } from './audit-entries.js';
import { systemPad, type MaintenanceNeeds } from './needs.js';
import { LedgerObservations, type Observation } from './observations.js';

export interface AuditorOptions {
  /** What is younger is left to the process that began it. */
  readonly graceMs?: number;
  /** A staged text whose event was not stored by now never gets one: three times the longest operation. */
  readonly staleAfterMs?: number;
}

/** Idempotency keys that a pad remembers: this many are kept when it has twice as many. */
const keptKeys = 10_000;
const padsAtOnce = 8;

/**
 * Completes what writers left undone in the scratchpad store: events of entries, clears, contents
 * (docs/flows.md#audit-ledgers). Invariant: every step is idempotent, so it may die anywhere.
 */
export class LedgerAuditor {
  /** When something that may be left over was first seen, in milliseconds. */
  private readonly firstSeen = new Map<string, number>();
  private readonly observations: LedgerObservations;
  private readonly graceMs: number;
  private readonly staleAfterMs: number;

  constructor(
    private readonly needs: MaintenanceNeeds,
    { graceMs = 3_000, staleAfterMs = 60_000 }: AuditorOptions = {},
  ) {
    this.graceMs = graceMs;
    this.staleAfterMs = staleAfterMs;
    this.observations = new LedgerObservations(needs.reads, graceMs);
  }

  /** Audits the pads that were written to since their last audit, and answers how many. */
  async auditDirty(limit = 500): Promise<number> {
    const { dirtyPads } = this.needs.scratchpadStore;
    const pads = await dirtyPads.take(limit);
    const covered = await this.observations.fullyCovered(pads, this.now());
    await runParallel(padsAtOnce, pads, async (pad) => {
      if (await this.observe(pad, covered.get(pad.scratchpadId))) await dirtyPads.markClean(pad);
    });
    return pads.length;
  }

  /** Answers whether nothing of the pad is left to be done. The streams of a pad in order are not read. */
  private async observe(pad: PadRef, highestCovered: number | undefined): Promise<boolean> {
    const state = await this.needs.scratchpadStore.keys.state(pad);
    const before = this.observations.of(pad);
    this.observations.remember(pad, state, this.now());
    const isInOrder = before && highestCovered !== undefined && this.isInOrder(pad, state, before, highestCovered);
    return isInOrder ? before.length === state.ledger?.length : this.audit(pad);
  }

  private isInOrder(pad: PadRef, state: PadState, before: Observation, highestCovered: number): boolean {
    const { ledger, contentRevision, staged, unfinishedClearIds, idempotencyKeys } = state;
    const isWhole =
      ledger?.generation === before.generation && highestCovered <= ledger.length && contentRevision !== undefined;
    const isFinished = staged.length + unfinishedClearIds.length === 0 && idempotencyKeys <= 2 * keptKeys;
    return isWhole && isFinished && this.needs.scratchpadStore.epoch.isVerified(pad);
  }

  /** Answers whether nothing of the pad is left to be done. */
  async audit(ref: PadRef): Promise<boolean> {
    const pad = systemPad(this.needs, ref, 'ledger auditor');
    const before = new Date(this.now() - this.graceMs).toISOString();
    if ((await pad.consistency.reconcile()) === 'gone') return true;
    const state = await pad.store.keys.state(ref);
    // Each part is looked at, whatever became of the others.
    const done = [
      await this.finishEachClear(pad, state),
      await this.finishContent(pad, state),
      await auditEntries(pad, before, this.needs.reads),
    ];
    if (state.idempotencyKeys > 2 * keptKeys) await pad.store.repair.pruneIdempotencyKeys(ref, keptKeys);
    const isDone = done.every(Boolean);
    if (isDone) this.forget(ref);
    return isDone;
  }

  private async finishEachClear(pad: PadContext, { unfinishedClearIds }: PadState): Promise<boolean> {
    let isFinished = true;
    for (const clearId of unfinishedClearIds) {
      if (this.seenFor(pad, clearId) < this.graceMs) isFinished = false;
      else await completeClear(pad, clearId);
    }
    return isFinished;
  }

  /** Promotes what was committed; drops what never was. */
  private async finishContent(pad: PadContext, { staged }: PadState): Promise<boolean> {
    if (staged.length === 0) return true;
    const { ref, store, streams } = pad;
    const state = await streams.aggregates.load(scratchpad, pad.scratchpadId);
    if (state.status !== 'open') return true;
    const { contentRevision, contentEventId, contentAt } = state;
    if (contentEventId !== null) await store.content.promote(ref, contentRevision, contentEventId, contentAt);
    let isFinished = true;
    for (const { revision, eventId } of staged) {
      if (revision === contentRevision && eventId === contentEventId) continue;
      if (this.seenFor(pad, eventId) < this.staleAfterMs) isFinished = false;
      else await store.content.unstage(ref, revision, eventId);
    }
    return isFinished;
  }

  private now(): number {
    return this.needs.eventSourcing.clock.now().getTime();
  }

  private seenFor({ scratchpadId }: Pick<PadRef, 'scratchpadId'>, what: string): number {
    const name = `${scratchpadId} ${what}`;
    const since = this.firstSeen.get(name) ?? this.now();
    this.firstSeen.set(name, since);
    return this.now() - since;
  }

  private forget({ scratchpadId }: PadRef): void {
    for (const name of this.firstSeen.keys()) if (name.startsWith(`${scratchpadId} `)) this.firstSeen.delete(name);
  }
}
