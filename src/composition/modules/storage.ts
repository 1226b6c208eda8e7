import type { ClientBase } from 'pg';
import { projections } from '../../../projections/index.js';
import { openDatabase } from '../../infrastructure/postgres/database.js';
import { startKeyUsage } from '../../infrastructure/postgres/key-usage.js';
import { migrate } from '../../infrastructure/postgres/migrate.js';
import { makePersonalDataKeys } from '../../infrastructure/postgres/personal-data-keys.js';
import { makeReadDbs } from '../../infrastructure/postgres/read-dbs.js';
import { makeSnapshots } from '../../infrastructure/postgres/snapshots.js';
import { followWatermark } from '../../infrastructure/postgres/watermark.js';
import { makeProjectionControl } from '../../infrastructure/projector/control.js';
import { assertKeysThere } from '../../infrastructure/vault/assert-keys.js';
import { makeKmsChain } from '../../infrastructure/vault/kms.js';
import { makeLocalKms } from '../../infrastructure/vault/local-kms.js';
import { ensureRootKey } from '../../infrastructure/vault/root-key.js';
import { makeTransitKms } from '../../infrastructure/vault/transit-kms.js';
import type { Module } from '../bind.js';
import { T } from '../tokens.js';

/** Postgres: the database and its keys, read models, snapshots, personal data keys. */
export const storage: Module = (bind, closing) => {
  bind(T.kms, [T.config, T.backends], ({ kms }, { keks }) => {
    const local = makeLocalKms(keks);
    return kms ? makeKmsChain(makeTransitKms(kms), local) : local;
  });
  bind(T.prepared, [T.backends, T.kms, T.logger], async ({ databaseUrl: url, keks }, kms, log) => {
    let rootKey: Buffer = Buffer.alloc(0);
    const kek = async (client: ClientBase) =>
      (rootKey = await ensureRootKey((text, values) => client.query(text, [...values]), kms));
    await migrate({ url, kek, projections, log });
    const database = closing(openDatabase({ url, kek: rootKey, log }));
    await assertKeysThere(database.system, keks, kms);
    return { database, rootKey };
  });
  bind(T.database, [T.prepared], ({ database }) => database);
  bind(T.rootKey, [T.prepared], ({ rootKey }) => rootKey);
  bind(T.dbs, [T.database], makeReadDbs);
  bind(T.watermark, [T.database], (database) => closing(followWatermark(database, projections)));
  bind(T.keyUsage, [T.database, T.clock, T.logger], ({ system }, clock, log) =>
    closing(startKeyUsage(system, clock, log)),
  );
  bind(T.personalDataKeys, [T.database, T.backends, T.crashPoints], ({ system }, { keks }, crashPoints) =>
    crashPoints.around('personalDataKeys', makePersonalDataKeys(system, keks), ['sealingKey', 'openingKeys']),
  );
  bind(T.snapshots, [T.database], ({ system }) => makeSnapshots(system));
  bind(T.projections, [T.database, T.eventStore], ({ system }, eventStore) =>
    makeProjectionControl(system, eventStore, projections),
  );
};
