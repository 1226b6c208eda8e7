import { builtInHarnesses } from '../../application/enrollment/harnesses.js';
import { reapStaged } from '../../application/enrollment/reaper.js';
import { usableCredentials } from '../../application/enrollment/staged-versions.js';
import { HarnessFileUnreadable, makeHarnessRegistry } from '../../infrastructure/harness-file.js';
import { makeModels } from '../../infrastructure/llm/models.js';
import { StartupError } from '../../infrastructure/startup-error.js';
import { makePostgresVault } from '../../infrastructure/vault/postgres-vault.js';
import { startReaper } from '../../infrastructure/vault/reaper.js';
import type { Module } from '../bind.js';
import { T } from '../tokens.js';

/** The vault of credentials, harnesses, models, and the reaper of enrollments that were never committed. */
export const enrollment: Module = (bind, closing) => {
  bind(T.vault, [T.database, T.kms, T.crashPoints], ({ system }, kms, crashPoints) =>
    crashPoints.around('credentialVault', makePostgresVault(system, kms), [
      'has',
      'staged',
      'stagedLongerThan',
      'find',
      'open',
    ]),
  );
  bind(T.harnesses, [T.config], async ({ harnessFile }) => {
    const registry = makeHarnessRegistry(builtInHarnesses, harnessFile);
    await registry.list().catch((fault: unknown) => {
      throw fault instanceof HarnessFileUnreadable ? new StartupError(`PALIMPSEST_HARNESSES: ${fault.message}`) : fault;
    });
    return registry;
  });
  bind(T.models, [T.aggregateStore, T.vault, T.config], (store, vault, { modelEndpoints }) =>
    makeModels(usableCredentials(store, vault), modelEndpoints),
  );
  bind(T.reaper, [T.eventSourcing, T.vault, T.logger], (eventSourcing, vault, log) =>
    closing(startReaper(() => reapStaged({ eventSourcing, vault }), log)),
  );
};
