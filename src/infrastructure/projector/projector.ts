import { lockNumbers } from '../postgres/locks.js';
import { projectionsFolder } from '../postgres/read-model-tables.js';
import { runAsLeader, type LeaderLease } from '../postgres/leader-lease.js';
import type { TermNeeds } from './active-term.js';
import { Term } from './term.js';
import { answerWithinMs } from './write-rows.js';

type Optional = 'deferrable' | 'batchSize' | 'folder';
export type ProjectorNeeds = Omit<TermNeeds, Optional> & Partial<Pick<TermNeeds, Optional>>;

/**
 * Keeps the read models up to the log, in one process per database; `migrate` must have run.
 * Invariant: the checkpoint moves with the rows in one transaction, so a crash neither loses an event nor writes one twice.
 */
export function startProjector({
  batchSize = 1_000,
  folder = projectionsFolder,
  deferrable = { types: new Set(), ms: 0 },
  ...needs
}: ProjectorNeeds): LeaderLease {
  return runAsLeader(
    {
      url: needs.url,
      lock: lockNumbers.projector,
      name: 'projector',
      log: needs.log,
      // A crash loses rows and checkpoint together, and they are written again from the log: no need to wait for the disk.
      settings: { durable: false, byKey: true, statementTimeoutMs: answerWithinMs },
    },
    (client, ended) => new Term({ ...needs, deferrable, batchSize, folder }, client, ended).run(),
  );
}
