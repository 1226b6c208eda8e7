import type { EventStore } from '../../application/ports/event-store.js';
import type { Projection } from '../../../projections/kit/projection.js';
import { lockNumbers } from '../postgres/locks.js';
import { projectionsFolder } from '../postgres/read-model-tables.js';
import { runAsLeader, type LeaderLease } from '../postgres/leader-lease.js';
import { Term } from './term.js';
import { answerWithinMs, type WritingNeeds } from './write-rows.js';

export interface ProjectorNeeds extends WritingNeeds {
  /** The database owner's URL. */
  readonly url: string;
  readonly events: EventStore;
  readonly projections: readonly Projection[];
  /** Events per transaction, at most. */
  readonly batchSize?: number;
  /** Where the projections' `.sql` files are. */
  readonly folder?: string;
}

/**
 * Keeps the read models up to the log, in one process per database; `migrate` must have run. Whatever dies, it goes on
 * from the checkpoint, which moves with the rows in one transaction.
 */
export function startProjector({
  batchSize = 1_000,
  folder = projectionsFolder,
  ...needs
}: ProjectorNeeds): LeaderLease {
  return runAsLeader(
    {
      url: needs.url,
      lock: lockNumbers.projector,
      name: 'projector',
      log: needs.log,
      // Rows and checkpoint are lost together, and what is lost is written again from the log: no need to wait for the disk.
      settings: { durable: false, byKey: true, statementTimeoutMs: answerWithinMs },
    },
    (client, ended) => new Term({ ...needs, batchSize, folder }, client, ended).run(),
  );
}
