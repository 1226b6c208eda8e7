import express, { type Express } from 'express';
import helmet from 'helmet';
import type { Logger } from '../../application/ports/telemetry.js';
import { accessLog } from './access-log.js';
import type { Door } from './door.js';
import { answerFault, refuseUnknown, refuseWhile } from './fallbacks.js';
import { probes, type Checks, type Exposition } from './probes.js';

export interface HttpNeeds {
  /** In the order in which they are asked. */
  readonly doors: readonly Door[];
  readonly log: Logger;
  /** One for each backend, by the name that `/readyz` shows. */
  readonly checks: Checks;
  readonly exposition: Exposition;
}

/**
 * Serves all doors at one address, with probes and metrics. Once `ending` is aborted it is not ready, and operations are
 * answered with `unavailable`.
 */
export function httpApp({ doors, log, checks, exposition }: HttpNeeds, ending: AbortSignal): Express {
  const draining = () => ending.aborted;
  const mounted = doors.map((door) => door(ending));
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(accessLog(log));
  app.use(refuseWhile(draining));
  for (const { operations } of mounted) if (operations) app.use(operations);
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"] } } }));
  for (const { others } of mounted) if (others) app.use(others);
  app.use(probes(checks, draining, exposition));
  app.use(refuseUnknown);
  app.use(answerFault(log));
  return app;
}
