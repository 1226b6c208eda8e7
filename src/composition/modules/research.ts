import { enqueueOpen } from '../../application/research/requeue.js';
import { makeResearchWork } from '../../application/research/run.js';
import { openResearchQueue } from '../../infrastructure/bullmq/research.js';
import type { Module } from '../bind.js';
import { T } from '../tokens.js';

/** Runs of research: their queue, and the worker that takes them up. */
export const research: Module = (bind, closing) => {
  bind(T.researchQueue, [T.backends, T.logger], ({ redisUrl }, log) => closing(openResearchQueue({ redisUrl, log })));
  bind(
    T.researchWorker,
    [T.researchQueue, T.gateway, T.gatewayNeeds, T.models, T.dbs],
    (runs, gateway, { tenants, clock, metrics, logger }, models, dbs) => {
      const { store } = tenants.needs.eventSourcing;
      const work = makeResearchWork({ gateway, models, tenants, store, clock, metrics, logger });
      return closing(runs.startWorker(work, () => enqueueOpen(dbs, runs.queue)));
    },
  );
};
