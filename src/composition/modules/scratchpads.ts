import { recordPurge } from '../../application/scratchpad/maintenance/record-purge.js';
import { openPurges } from '../../infrastructure/bullmq/purges.js';
import type { CrashPoints } from '../../infrastructure/crash-points.js';
import {
  openScratchpadStore,
  type RedisScratchpadStore,
} from '../../infrastructure/redis/scratchpad-store/scratchpad-store.js';
import type { Module } from '../bind.js';
import { T } from '../tokens.js';

/** The scratchpad store, and the purges of deleted pads. */
export const scratchpads: Module = (bind, closing) => {
  bind(T.scratchpadStore, [T.backends, T.logger, T.crashPoints], async ({ redisUrl }, logger, crashPoints) => {
    const store = closing(openScratchpadStore(redisUrl));
    for (const warning of await store.assertDurable()) logger.warn({ backend: 'redis' }, warning);
    return withCrashPoints(store, crashPoints);
  });
  bind(T.maintenance, [T.eventSourcing, T.scratchpadStore, T.dbs], (eventSourcing, scratchpadStore, { system }) => ({
    eventSourcing,
    scratchpadStore,
    reads: system,
  }));
  bind(
    T.purges,
    [T.backends, T.maintenance, T.logger, T.crashPoints],
    ({ redisUrl }, maintenance, log, crashPoints) => {
      const recordPurged = recordPurge(maintenance);
      const padKeys = maintenance.scratchpadStore.keys;
      const purges = closing(openPurges({ redisUrl, padKeys, recordPurged, log, secondPassAfterMs }));
      return { ...purges, queue: crashPoints.around('purgeQueue', purges.queue, []) };
    },
  );
};

/** The six ports with their effects as crash points. */
const withCrashPoints = (store: RedisScratchpadStore, { around }: CrashPoints): RedisScratchpadStore => ({
  ...store,
  ledger: around('ledgerStore', store.ledger, ['read', 'tail']),
  content: around('contentStore', store.content, ['read']),
  keys: around('padKeys', store.keys, ['exists', 'state']),
  repair: around('ledgerRepair', store.repair, []),
  dirtyPads: around('dirtyPads', store.dirtyPads, ['take', 'scan']),
});

/** Twice the longest operation: then nothing that was begun before a deletion can still be under way. */
const secondPassAfterMs = 20_000;
