import type { ClientBase } from 'pg';
import { deferrable, projections } from '../../../projections/index.js';
import { enrollmentReaction } from '../../application/reactions/enrollments.js';
import { researchReaction } from '../../application/reactions/research.js';
import { scratchpadReaction } from '../../application/reactions/scratchpads.js';
import { runReactions } from '../../application/reactions/runner.js';
import { runAuditLoop } from '../../application/scratchpad/maintenance/audit-loop.js';
import type { DecodedEvent } from '../../application/event-sourcing/codec.js';
import { faultName, isOutage } from '../../infrastructure/postgres/faults.js';
import { runAsLeader } from '../../infrastructure/postgres/leader-lease.js';
import { lockNumbers } from '../../infrastructure/postgres/locks.js';
import { journalSession, PostgresReactionJournal } from '../../infrastructure/postgres/reaction-journal.js';
import { startProjector } from '../../infrastructure/projector/projector.js';
import type { Module } from '../bind.js';
import { T } from '../tokens.js';

/** How long a reaction may wait for the read models. */
const positionWaitMs = 10_000;

/** What one process of an installation does at a time: projector, reactions, audits; and the purges of any worker. */
export const background: Module = (bind, closing) => {
  bind(T.purgeWorker, [T.purges], (purges) => closing(purges.startWorker()));
  bind(
    T.projector,
    [T.backends, T.eventStore, T.personalDataKeys, T.metrics, T.logger],
    ({ databaseUrl: url }, events, personalDataKeys, metrics, log) =>
      closing(startProjector({ url, events, personalDataKeys, projections, deferrable, metrics, log })),
  );
  bind(
    T.reactions,
    [T.backends, T.eventSourcing, T.tenants, T.purges, T.researchQueue, T.watermark, T.logger],
    ({ databaseUrl: url }, eventSourcing, tenants, { queue: purges }, runs, watermark, logger) => {
      const { eventStore: events, personalDataKeys, metrics, store } = eventSourcing;
      const tenantOf = (event: DecodedEvent) => tenants.ofEvent(event);
      const awaitPosition = (position: bigint) => watermark.waitFor(position, positionWaitMs);
      const reactions = [
        scratchpadReaction({ tenantOf, purges, awaitPosition }),
        enrollmentReaction(tenantOf),
        researchReaction(tenantOf, runs.queue),
      ];
      const raiseWatermark = (position: bigint) => store.raiseWatermark(position);
      const faults = { isOutage, nameOf: faultName };
      const needs = { events, personalDataKeys, reactions, raiseWatermark, faults, logger, metrics };
      const lease = { url, lock: lockNumbers.reactions, name: 'reactions', log: logger, settings: journalSession };
      const run = (client: ClientBase, ended: AbortSignal) =>
        runReactions(needs, new PostgresReactionJournal(client), ended);
      return closing(runAsLeader(lease, run));
    },
  );
  bind(
    T.ledgerAuditor,
    [T.backends, T.maintenance, T.purges, T.logGuard, T.logger],
    ({ databaseUrl: url }, maintenance, { queue: purges }, { guard }, logger) => {
      const verifyLog = () => guard.verify();
      const lease = { url, lock: lockNumbers.ledgerAuditor, name: 'ledger auditor', log: logger };
      return closing(runAsLeader(lease, (_, ended) => runAuditLoop({ maintenance, purges, verifyLog, logger }, ended)));
    },
  );
};
