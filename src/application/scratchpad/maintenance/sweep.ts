import { randomUUID } from 'node:crypto';
import { listDeletedScratchpads } from '../../../../projections/audit.js';
import { listEveryScratchpad } from '../../../../projections/scratchpads.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { thread } from '../../../domain/thread/thread.js';
import { derivedUuid } from '../../kernel/ids.js';
import { isAttached } from '../../../domain/thread/thread.js';
import { removeScratchpad } from '../lifecycle.js';
import type { PadRef } from '../../ports/pad-keys.js';
import type { PurgeQueue } from '../../ports/work-queues.js';
import { systemWork, type SystemNeeds } from '../../tenancy/tenants.js';
import type { LedgerAuditor } from './auditor.js';
import { runParallel } from '../../kernel/concurrency/run-parallel.js';

/** Keys that no stream knows may belong to a pad whose stream this process has not been told of yet; for so long. */
const gracePeriodMs = 10 * 60_000;
const purgedAgainMs = 60 * 60_000;
const padsAtOnce = 8;
const pageSize = 500;

export interface SweepReport {
  /** Pads with keys. */
  readonly looked: number;
  /** Pads whose keys were removed, because the streams say that they are dead or never were. */
  readonly destroyed: number;
  /** Living pads without keys that got them. */
  readonly remade: number;
}

/**
 * Goes through everything that has keys, and through everything alive that should have: dead pads lose what is left of
 * them, living ones are made whole. The streams decide, never a read model (03-flows "Deletion"). With `auditing`, every
 * living pad is audited too: after a restart, when nobody knows what was lost.
 */
export async function sweep(needs: SystemNeeds, auditor: LedgerAuditor, auditing: boolean): Promise<SweepReport> {
  const swept = { looked: 0, destroyed: 0, remade: 0 };
  await runParallel(padsAtOnce, needs.working.dirtyPads.scan(), async (pad) => {
    swept.looked += 1;
    if (await isAlive(needs, pad)) {
      if (auditing) await auditor.audit(pad);
    } else if (await isInGracePeriod(needs, pad)) return;
    else if ((await needs.working.keys.destroy(pad)) > 0) swept.destroyed += 1;
  });
  await runParallel(padsAtOnce, everyPad(needs), async (pad) => {
    const { ledger, contentRevision } = await needs.working.keys.state(pad);
    if (ledger && contentRevision !== undefined) return;
    if (!(await isAlive(needs, pad))) return;
    await auditor.audit(pad);
    swept.remade += 1;
  });
  return swept;
}

/** After Redis was restarted it may hold again what had been deleted: the latest deletions are purged once more. */
export async function repeatRecentPurges({ dbs, clock }: SystemNeeds, purges: PurgeQueue): Promise<number> {
  const since = new Date(clock.now().getTime() - purgedAgainMs).toISOString();
  const deleted = await listDeletedScratchpads(dbs.system, since);
  await runParallel(padsAtOnce, deleted, (pad) => purges.purge(pad));
  return deleted.length;
}

/** A pad whose thread has let go of it is buried first: its own stream may not know yet. */
async function isAlive(needs: SystemNeeds, { ownerId, scratchpadId }: PadRef): Promise<boolean> {
  const commandId = derivedUuid('orphan sweep', scratchpadId);
  const work = systemWork(needs, { ownerId, commandId, correlationId: randomUUID() });
  const pad = await work.streams.load(scratchpad, scratchpadId);
  if (pad.status !== 'open') return false;
  if (isAttached(await work.streams.load(thread, pad.threadId), scratchpadId)) return true;
  await removeScratchpad(scratchpadId, ownerId, work);
  return false;
}

/** Dead is dead; but what the streams have never heard of is given time. */
async function isInGracePeriod(needs: SystemNeeds, pad: PadRef): Promise<boolean> {
  const { state } = await needs.store.load(scratchpad, pad.scratchpadId);
  if (state.status === 'deleted') return false;
  const made = Date.parse((await needs.working.keys.state(pad)).at);
  return made > needs.clock.now().getTime() - gracePeriodMs;
}

/** Found by the read model, which decides nothing here. */
async function* everyPad({ dbs }: SystemNeeds): AsyncIterable<PadRef> {
  let after: Awaited<ReturnType<typeof listEveryScratchpad>>[number] | undefined;
  for (;;) {
    const page = await listEveryScratchpad(dbs.system, after, pageSize);
    for (const { ownerId, id: scratchpadId } of page) yield { ownerId, scratchpadId };
    if (page.length < pageSize) return;
    after = page.at(-1);
  }
}
