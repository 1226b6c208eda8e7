import { describeFault } from '../../application/faults/describe-fault.js';
import { LedgerAuditor, type AuditorOptions } from '../../application/scratchpad/maintenance/auditor.js';
import { repeatRecentPurges, sweep } from '../../application/scratchpad/maintenance/sweep.js';
import type { Logger } from '../../application/ports/telemetry.js';
import type { PurgeQueue } from '../../application/ports/work-queues.js';
import type { SystemNeeds } from '../../application/tenancy/tenants.js';
import { lockNumbers } from '../postgres/locks.js';
import { runAsLeader, type LeaderLease } from '../postgres/leader-lease.js';
import { pause } from '../../application/kernel/concurrency/repeat-every.js';

export interface LedgerAuditorNeeds extends AuditorOptions {
  /** The database owner's URL. */
  readonly url: string;
  readonly system: SystemNeeds;
  readonly purges: PurgeQueue;
  readonly log: Logger;
  /** Pause between two looks at the pads that were written to, in milliseconds. */
  readonly lookEveryMs?: number;
  /** Pause between two sweeps through everything that has keys, in milliseconds. */
  readonly sweepEveryMs?: number;
}

/** How soon a restart of Redis is noticed, in milliseconds. */
const askEveryMs = 2_000;

/**
 * Keeps working state and streams in agreement, in one process per database: looks at what was written to every few
 * seconds, and sweeps through everything at the start, after a restart of Redis, and now and then.
 */
export function startLedgerAuditor({
  lookEveryMs = 3_000,
  sweepEveryMs = 300_000,
  ...needs
}: LedgerAuditorNeeds): LeaderLease {
  const { url, system, purges, log } = needs;

  const look = async (auditor: LedgerAuditor, ended: AbortSignal) => {
    while (!ended.aborted) {
      await surely(log, () => auditor.auditTouched());
      await pause(lookEveryMs, ended);
    }
  };

  const sweepThrough = async (auditor: LedgerAuditor, ended: AbortSignal) => {
    let runId: string | undefined;
    let sweptAt = 0;
    while (!ended.aborted) {
      await surely(log, async () => {
        const now = await system.working.epoch.serverRunId();
        const isRestarted = now !== runId;
        if (!isRestarted && performance.now() - sweptAt < sweepEveryMs) return;
        if (isRestarted) await repeatRecentPurges(system, purges);
        const swept = await sweep(system, auditor, isRestarted);
        if (swept.destroyed + swept.remade > 0) log.warn({ ...swept }, 'working state did not agree with the streams');
        runId = now;
        sweptAt = performance.now();
      });
      await pause(askEveryMs, ended);
    }
  };

  return runAsLeader({ url, lock: lockNumbers.ledgerAuditor, name: 'ledger auditor', log }, async (_, ended) => {
    const auditor = new LedgerAuditor(system, needs);
    await Promise.all([look(auditor, ended), sweepThrough(auditor, ended)]);
  });
}

/** A backend that is away is looked for again with the next look. */
async function surely(log: Logger, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (fault) {
    log.warn(describeFault(fault), 'ledgers could not be audited');
  }
}
