import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Gateway } from '../../application/gateway/request.js';
import type { Operation } from '../../application/operation/operation.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { accessLog } from './access-log.js';
import { apiDocument } from '../rest/api-document.js';
import { docsPage } from '../rest/docs.js';
import { answerFault, refuseUnknown, refuseWhile } from './fallbacks.js';
import { probes, type Checks, type Exposition } from './probes.js';
import { restRouter } from '../rest/router.js';

export interface RestNeeds {
  readonly operations: readonly Operation[];
  readonly gateway: Gateway;
  readonly log: Logger;
  /** One for each backend, by the name that `/readyz` shows. */
  readonly checks: Checks;
  readonly exposition: Exposition;
  /** The product's version, for the API document. */
  readonly version: string;
  /** Other doors that are served at the same address. */
  readonly beside?: readonly RequestHandler[];
  /** Aborted once the process is ending: not ready, operations are answered with `unavailable`, live answers end. */
  readonly ending: AbortSignal;
}

/** The REST door and what stands beside it: probes, metrics, the API document and its page. */
export function restApp({
  operations,
  gateway,
  log,
  checks,
  exposition,
  version,
  beside = [],
  ending,
}: RestNeeds): Express {
  const draining = () => ending.aborted;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(accessLog(log));
  app.use(refuseWhile(draining));
  // First the hot paths, with their own headers.
  app.use(restRouter(operations, gateway, ending));
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"] } } }));
  for (const door of beside) app.use(door);
  app.use(probes(checks, draining, exposition));
  app.get('/openapi.json', apiDocument(operations, version));
  app.use(docsPage());
  app.use(refuseUnknown);
  app.use(answerFault(log));
  return app;
}
