import { listDeletedScratchpads } from '../../../../projections/audit.js';
import { listEveryScratchpad } from '../../../../projections/scratchpads.js';
import { scratchpad, type Scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { isAttached, thread } from '../../../domain/thread/thread.js';
import { runParallel } from '../../kernel/concurrency/run-parallel.js';
import type { PadRef } from '../../ports/pad-keys.js';
import type { ReadDb } from '../../ports/read-models.js';
import type { PurgeQueue } from '../../ports/work-queues.js';
import { removeScratchpad } from '../lifecycle.js';
import type { LedgerAuditor } from './auditor.js';
import { systemPad, type MaintenanceNeeds } from './needs.js';

const recentMs = 60 * 60_000;
const padsAtOnce = 8;
const pageSize = 500;

export interface SweepReport {
  /** Pads with keys. */
  readonly looked: number;
  /** Pads whose keys were removed, because their streams say that they are deleted. */
  readonly destroyed: number;
  /** Pads with keys and without a stream. They are left as they are. */
  readonly unknown: number;
  /** Open pads without keys that got them. */
  readonly remade: number;
}

/**
 * Goes through every pad that has keys, and through every open pad that should have: deleted pads lose what is left of
 * them, open ones are made whole. With `auditing`, every open pad is audited too: after a restart of Redis, which may have
 * lost entries. Invariant: the streams decide, never a read model (docs/flows.md#purge-and-sweep).
 */
export async function sweep(needs: MaintenanceNeeds, auditor: LedgerAuditor, auditing: boolean): Promise<SweepReport> {
  const { keys, dirtyPads } = needs.scratchpadStore;
  const report = { looked: 0, destroyed: 0, unknown: 0, remade: 0 };
  await runParallel(padsAtOnce, dirtyPads.scan(), async (pad) => {
    report.looked += 1;
    const status = await statusOf(needs, pad);
    if (status === 'absent') report.unknown += 1;
    else if (status === 'deleted') report.destroyed += (await keys.destroy(pad)) > 0 ? 1 : 0;
    else if (auditing) await auditor.audit(pad);
  });
  await runParallel(padsAtOnce, everyPad(needs.reads), async (pad) => {
    const { ledger, contentRevision } = await keys.state(pad);
    if (ledger && contentRevision !== undefined) return;
    if ((await statusOf(needs, pad)) !== 'open') return;
    await auditor.audit(pad);
    report.remade += 1;
  });
  return report;
}

/** Purges the latest deletions once more. Why: after a restart, Redis may hold again what had been deleted. */
export async function repeatRecentPurges(
  { reads, eventSourcing: { clock } }: MaintenanceNeeds,
  purges: PurgeQueue,
): Promise<number> {
  const since = new Date(clock.now().getTime() - recentMs).toISOString();
  const deleted = await listDeletedScratchpads(reads, since);
  await runParallel(padsAtOnce, deleted, (pad) => purges.purge(pad));
  return deleted.length;
}

/** The pad's own stream may not yet say that its thread no longer names it: then the pad is removed first. */
async function statusOf(needs: MaintenanceNeeds, ref: PadRef): Promise<Scratchpad['status']> {
  const pad = systemPad(needs, ref, 'orphan sweep');
  const { aggregates } = pad.streams;
  const state = await aggregates.load(scratchpad, pad.scratchpadId);
  if (state.status !== 'open') return state.status;
  if (isAttached(await aggregates.load(thread, state.threadId), pad.scratchpadId)) return 'open';
  await removeScratchpad(pad);
  return 'deleted';
}

/** Every pad that the read model knows. */
async function* everyPad(reads: ReadDb): AsyncIterable<PadRef> {
  let after: Awaited<ReturnType<typeof listEveryScratchpad>>[number] | undefined;
  for (;;) {
    const page = await listEveryScratchpad(reads, after, pageSize);
    for (const { ownerId, id: scratchpadId } of page) yield { ownerId, scratchpadId };
    if (page.length < pageSize) return;
    after = page.at(-1);
  }
}
