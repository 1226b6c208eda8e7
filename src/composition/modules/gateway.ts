import { sql } from '../../../projections/kit/sql.js';
import { makeKeyMaker } from '../../application/access/api-keys.js';
import { makeAuthenticate } from '../../application/access/authenticate.js';
import { Principals } from '../../application/access/principals.js';
import { makeGateway } from '../../application/gateway/gateway.js';
import { purposeKey } from '../../application/kernel/installation-keys.js';
import { Tenants } from '../../application/tenancy/tenants.js';
import type { Module } from '../bind.js';
import { T } from '../tokens.js';

/** The one pipeline of every door, and what it is made from. */
export const gateway: Module = (bind) => {
  bind(
    T.tenants,
    [T.eventSourcing, T.scratchpadStore, T.live, T.vault, T.dbs],
    (eventSourcing, scratchpadStore, live, vault, dbs) =>
      new Tenants({ eventSourcing, scratchpadStore, live, vault }, dbs),
  );
  bind(T.apiKeys, [T.rootKey], (rootKey) => makeKeyMaker(purposeKey(rootKey, 'api keys')));
  bind(
    T.authenticate,
    [T.aggregateStore, T.dbs, T.rootKey, T.clock, T.keyUsage],
    (store, dbs, rootKey, clock, usage) => {
      const principals = new Principals({ store, dbs, elapsed: () => performance.now() });
      return makeAuthenticate({ principals, pepper: purposeKey(rootKey, 'api keys'), clock, usage });
    },
  );
  bind(
    T.gatewayNeeds,
    [
      T.tenants,
      T.authenticate,
      T.rootKey,
      T.watermark,
      T.logGuard,
      T.projections,
      T.apiKeys,
      T.models,
      T.harnesses,
      T.logger,
    ],
    (
      tenants,
      authenticate,
      rootKey,
      watermark,
      { guard: logGuard },
      projections,
      apiKeys,
      models,
      harnesses,
      logger,
    ) => {
      const { clock, metrics } = tenants.needs.eventSourcing;
      const cursorKey = purposeKey(rootKey, 'cursors');
      const services = { apiKeys, models, harnesses };
      return { tenants, authenticate, watermark, logGuard, projections, cursorKey, services, clock, metrics, logger };
    },
  );
  bind(T.gateway, [T.gatewayNeeds], makeGateway);
  bind(T.checks, [T.logGuard, T.database, T.scratchpadStore], ({ guard }, { app }, scratchpadStore) => ({
    eventstore: () => guard.verify(),
    postgres: async () => {
      await app.run(sql`select 1`);
    },
    redis: () => scratchpadStore.ping(),
  }));
};
