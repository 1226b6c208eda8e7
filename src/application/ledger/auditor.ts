import { randomUUID } from 'node:crypto';
import { scratchpad } from '../../domain/scratchpad/scratchpad.js';
import { derivedUuid } from '../ids.js';
import type { PadRef, PadState } from '../ports.js';
import type { SystemWork } from '../reactions/reaction.js';
import { systemWork, type SystemNeeds } from '../system-work.js';
import { auditEntries } from './audit-entries.js';
import { completeClear } from './complete-clear.js';
import { inParallel } from './in-parallel.js';
import { reconcile } from './reconcile.js';

export interface AuditorOptions {
  /** What is younger is left to the process that began it. */
  readonly graceMs?: number;
  /** A staged text whose event was not stored by now never gets one: three times the longest an operation may take. */
  readonly staleAfterMs?: number;
  /** A pad that is being written to all the time is looked at no more often. */
  readonly busyEveryMs?: number;
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
  private readonly sightings = new Map<string, number>();
  private readonly graceMs: number;
  private readonly staleAfterMs: number;
  private readonly busyEveryMs: number;
  /** When pads were last looked at, in milliseconds. */
  private readonly looks = new Map<string, number>();

  constructor(
    private readonly needs: SystemNeeds,
    { graceMs = 3_000, staleAfterMs = 60_000, busyEveryMs = 15_000 }: AuditorOptions = {},
  ) {
    this.graceMs = graceMs;
    this.staleAfterMs = staleAfterMs;
    this.busyEveryMs = busyEveryMs;
  }

  /** Looks at the pads that were written to: once they rest, and now and then while they do not. */
  async auditTouched(limit = 500): Promise<void> {
    const touched = await this.needs.working.touched(limit);
    const due = touched.filter(({ pad, lately }) => !lately || !this.looks.has(pad.scratchpadId));
    for (const { pad } of due) this.looks.set(pad.scratchpadId, this.now());
    await inParallel(padsAtOnce, due, async ({ pad }) => {
      if (await this.audit(pad)) await this.needs.working.settled(pad);
    });
    for (const [scratchpadId, at] of this.looks) {
      if (this.now() - at >= this.busyEveryMs) this.looks.delete(scratchpadId);
    }
  }

  /** Answers whether nothing of the pad is left to be done. */
  async audit(pad: PadRef): Promise<boolean> {
    const work = this.workOn(pad);
    const before = new Date(this.now() - this.graceMs).toISOString();
    if (!(await reconcile(pad, work))) return true;
    const state = await work.working.state(pad);
    // Each part is looked at, whatever became of the others.
    const done = [
      await this.finishClears(pad, state, work),
      await this.settleContent(pad, state, work),
      await auditEntries(pad, before, work),
    ];
    if (state.keyed > 2 * keptKeys) await work.working.pruneKeyed(pad, keptKeys);
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
  private async settleContent(pad: PadRef, { staged }: PadState, { streams, working }: SystemWork): Promise<boolean> {
    if (staged.length === 0) return true;
    const content = await streams.load(scratchpad, pad.scratchpadId);
    if (content.status !== 'open') return true;
    const { contentRevision, contentEventId, contentAt } = content;
    if (contentEventId !== null) await working.promote(pad, contentRevision, contentEventId, contentAt);
    let settled = true;
    for (const { revision, eventId } of staged) {
      if (revision === contentRevision && eventId === contentEventId) continue;
      if (this.seenFor(pad, eventId) < this.staleAfterMs) settled = false;
      else await working.unstage(pad, revision, eventId);
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
    const since = this.sightings.get(name) ?? this.now();
    this.sightings.set(name, since);
    return this.now() - since;
  }

  private forget({ scratchpadId }: PadRef): void {
    for (const name of this.sightings.keys()) if (name.startsWith(`${scratchpadId} `)) this.sightings.delete(name);
  }
}
