import { Router } from 'express';
import { LogMismatch } from '../../application/faults/errors.js';

/** Each backend's check; it rejects when the backend cannot work. */
export type Checks = Readonly<Record<string, () => Promise<void>>>;

/** What `/metrics` shows. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}

const checkWithinMs = 2_000;

/** `/healthz`: the process answers. `/readyz`: it can work, with a line for each backend. `/metrics`: Prometheus text. */
export function probes(checks: Checks, draining: () => boolean, exposition: Exposition): Router {
  const router = Router();
  const readiness = sharedWhileRunning(() => checkAll(checks));
  router.get('/healthz', (_request, response) => {
    response.locals['route'] = '/healthz';
    response.type('text/plain').send('ok\n');
  });
  router.get('/readyz', async (_request, response) => {
    response.locals['route'] = '/readyz';
    const lines = [...(await readiness()), ...(draining() ? [{ name: 'server', state: 'draining' }] : [])];
    const ready = lines.every(({ state }) => state === 'ok');
    const text = lines.map(({ name, state }) => `${name}: ${state}\n`).join('');
    response
      .status(ready ? 200 : 503)
      .type('text/plain')
      .send(text);
  });
  router.get('/metrics', async (_request, response) => {
    response.locals['route'] = '/metrics';
    response.setHeader('Content-Type', exposition.contentType);
    response.end(await exposition.text());
  });
  return router;
}

interface Line {
  readonly name: string;
  readonly state: string;
}

const checkAll = (checks: Checks): Promise<readonly Line[]> =>
  Promise.all(Object.entries(checks).map(async ([name, check]) => ({ name, state: await stateOf(check) })));

/** What a driver says of its failure may hold addresses and credentials, so it stays inside. Our own words do not. */
async function stateOf(check: () => Promise<void>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('no answer'), checkWithinMs);
  });
  try {
    return await Promise.race([check().then(() => 'ok'), late]);
  } catch (fault) {
    return fault instanceof LogMismatch ? fault.message : 'not available';
  } finally {
    clearTimeout(timer);
  }
}

/** Callers that come while the work runs share it: a flood of probes is one round of checks at a time. */
function sharedWhileRunning<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => (running ??= work().finally(() => (running = undefined)));
}
