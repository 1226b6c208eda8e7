import { describeFault } from '../../faults/describe-fault.js';
import { pause } from '../../kernel/concurrency/repeat-every.js';
import type { Logger } from '../../ports/telemetry.js';
import type { PurgeQueue } from '../../ports/work-queues.js';
import { LedgerAuditor, type AuditorOptions } from './auditor.js';
import type { MaintenanceNeeds } from './needs.js';
import { repeatRecentPurges, sweep } from './sweep.js';

export interface AuditLoopNeeds extends AuditorOptions {
  readonly maintenance: MaintenanceNeeds;
  readonly purges: PurgeQueue;
  /** Fails when: the event log is not the one that the pads belong to → LogMismatch. */
  readonly verifyLog: () => Promise<void>;
  readonly logger: Logger;
  readonly auditEveryMs?: number;
  readonly sweepEveryMs?: number;
}

/** How often the loop asks whether Redis was restarted. */
const askEveryMs = 2_000;

/**
 * Keeps scratchpad store and streams in agreement until `ended`: audits dirty pads every few seconds, and sweeps through
 * every pad at the start, after a restart of Redis, and now and then. Invariant: it runs in one process per database; the
 * caller holds the lease.
 */
export async function runAuditLoop(
  { auditEveryMs = 3_000, sweepEveryMs = 300_000, ...needs }: AuditLoopNeeds,
  ended: AbortSignal,
): Promise<void> {
  const auditor = new LedgerAuditor(needs.maintenance, needs);
  await Promise.all([
    auditDirtyPads(needs, auditor, auditEveryMs, ended),
    sweepPads(needs, auditor, sweepEveryMs, ended),
  ]);
}

async function auditDirtyPads(
  { logger }: AuditLoopNeeds,
  auditor: LedgerAuditor,
  everyMs: number,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    await logged(logger, () => auditor.auditDirty());
    await pause(everyMs, ended);
  }
}

async function sweepPads(
  { maintenance, purges, verifyLog, logger }: AuditLoopNeeds,
  auditor: LedgerAuditor,
  everyMs: number,
  ended: AbortSignal,
): Promise<void> {
  let runId: string | undefined;
  let sweptAt = 0;
  while (!ended.aborted) {
    await logged(logger, async () => {
      const now = await maintenance.scratchpadStore.epoch.serverRunId();
      const isRestarted = now !== runId;
      if (!isRestarted && performance.now() - sweptAt < everyMs) return;
      await verifyLog();
      if (isRestarted) await repeatRecentPurges(maintenance, purges);
      const report = await sweep(maintenance, auditor, isRestarted);
      if (report.destroyed + report.remade + report.unknown > 0) {
        logger.warn({ ...report }, 'the scratchpad store did not agree with the streams');
      }
      runId = now;
      sweptAt = performance.now();
    });
    await pause(askEveryMs, ended);
  }
}

/** Runs one round. A backend that is away is asked again in the next round. */
async function logged(logger: Logger, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (fault) {
    logger.warn(describeFault(fault), 'ledgers could not be audited');
  }
}
