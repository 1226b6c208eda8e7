import { randomUUID } from 'node:crypto';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { derivedUuid } from '../../kernel/ids.js';
import type { PadRef, PadState } from '../../ports/pad-keys.js';
import type { SystemWork } from '../../reactions/reaction.js';
import { systemWork, type SystemNeeds } from '../../tenancy/tenants.js';
import { auditEntries } from './audit-entries.js';
import { completeClear } from '../entries/clear.js';
import { runParallel } from '../../kernel/concurrency/run-parallel.js';
import { reconcile } from '../consistency.js';
import { LedgerObservations, type Observation } from './observations.js';

export interface AuditorOptions {
  /** What is younger is left to the process that began it. */
  readonly graceMs?: number;
  /** A staged text whose event was not stored by now never gets one: three times the longest an operation may take. */
  readonly staleAfterMs?: number;
}

/** Keyed appends that a pad remembers: this many are kept when it has twice as many. */
const keptKeys = 10_000;
const padsAtOnce = 8;

/**
 * Completes what writers left undone in the working state of pads: events of entries, clears, contents (03-flows
 * "Entries"). Everything it does is idempotent; it may die anywhere.
 */
export class LedgerAuditor {
  /** When something that may be left over was first seen, in milliseconds. */
  private readonly firstSeen = new Map<string, number>();
  private readonly observations: LedgerObservations;
  private readonly graceMs: number;
  private readonly staleAfterMs: number;

  constructor(
    private readonly needs: SystemNeeds,
    { graceMs = 3_000, staleAfterMs = 60_000 }: AuditorOptions = {},
  ) {
    this.graceMs = graceMs;
    this.staleAfterMs = staleAfterMs;
    this.observations = new LedgerObservations(needs.dbs.system, graceMs);
  }

  /** Looks at the pads that were written to lately, and answers at how many. */
  async auditTouched(limit = 500): Promise<number> {
    const { working } = this.needs;
    const pads = await working.dirtyPads.take(limit);
    const told = await this.observations.fullyCovered(pads, this.now());
    await runParallel(padsAtOnce, pads, async (pad) => {
      if (await this.look(pad, told.get(pad.scratchpadId))) await working.dirtyPads.markClean(pad);
    });
    return pads.length;
  }

  /** Answers whether nothing of the pad is left to be done. The streams of one that is in order are not read. */
  private async look(pad: PadRef, highestTold: number | undefined): Promise<boolean> {
    const state = await this.needs.working.keys.state(pad);
    const before = this.observations.of(pad);
    this.observations.remember(pad, state, this.now());
    const inOrder = before && highestTold !== undefined && this.isInOrder(pad, state, before, highestTold);
    return inOrder ? before.length === state.ledger?.length : this.audit(pad);
  }

  private isInOrder(pad: PadRef, state: PadState, before: Observation, highestTold: number): boolean {
    const { ledger, contentRevision, staged, unfinishedClears, idempotencyKeys: keyed } = state;
    const isWhole =
      ledger?.generation === before.generation && highestTold <= ledger.length && contentRevision !== undefined;
    const isFinished = staged.length + unfinishedClears.length === 0 && keyed <= 2 * keptKeys;
    return isWhole && isFinished && this.needs.working.epoch.isVerified(pad);
  }

  /** Answers whether nothing of the pad is left to be done. */
  async audit(pad: PadRef): Promise<boolean> {
    const work = this.workOn(pad);
    const before = new Date(this.now() - this.graceMs).toISOString();
    if (!(await reconcile(pad, work))) return true;
    const state = await work.working.keys.state(pad);
    // Each part is looked at, whatever became of the others.
    const done = [
      await this.finishClears(pad, state, work),
      await this.finishContent(pad, state, work),
      await auditEntries(pad, before, work),
    ];
    if (state.idempotencyKeys > 2 * keptKeys) await work.working.repair.pruneIdempotencyKeys(pad, keptKeys);
    const settled = done.every(Boolean);
    if (settled) this.forget(pad);
    return settled;
  }

  private async finishClears(pad: PadRef, { unfinishedClears }: PadState, work: SystemWork): Promise<boolean> {
    let finished = true;
    for (const clearId of unfinishedClears) {
      if (this.seenFor(pad, clearId) < this.graceMs) finished = false;
      else await completeClear(pad, clearId, work);
    }
    return finished;
  }

  /** Promotes what was committed; drops what never was. */
  private async finishContent(pad: PadRef, { staged }: PadState, { streams, working }: SystemWork): Promise<boolean> {
    if (staged.length === 0) return true;
    const content = await streams.load(scratchpad, pad.scratchpadId);
    if (content.status !== 'open') return true;
    const { contentRevision, contentEventId, contentAt } = content;
    if (contentEventId !== null) await working.content.promote(pad, contentRevision, contentEventId, contentAt);
    let settled = true;
    for (const { revision, eventId } of staged) {
      if (revision === contentRevision && eventId === contentEventId) continue;
      if (this.seenFor(pad, eventId) < this.staleAfterMs) settled = false;
      else await working.content.unstage(pad, revision, eventId);
    }
    return settled;
  }

  private workOn({ ownerId, scratchpadId }: PadRef): SystemWork {
    const commandId = derivedUuid('ledger auditor', scratchpadId);
    return systemWork(this.needs, { ownerId, commandId, correlationId: randomUUID() });
  }

  private now(): number {
    return this.needs.clock.now().getTime();
  }

  private seenFor({ scratchpadId }: PadRef, what: string): number {
    const name = `${scratchpadId} ${what}`;
    const since = this.firstSeen.get(name) ?? this.now();
    this.firstSeen.set(name, since);
    return this.now() - since;
  }

  private forget({ scratchpadId }: PadRef): void {
    for (const name of this.firstSeen.keys()) if (name.startsWith(`${scratchpadId} `)) this.firstSeen.delete(name);
  }
}
