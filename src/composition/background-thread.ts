import { parentPort, workerData } from 'node:worker_threads';
import { BackendUnavailable } from '../application/faults/errors.js';
import type { Metrics } from '../application/ports/telemetry.js';
import type { Brief, ToMain } from './background.js';
import type { Backends } from './tokens.js';
import { makeLogger } from '../infrastructure/logger.js';
import { makeMetrics } from '../infrastructure/metrics.js';
import type { Kek } from '../infrastructure/vault/kek-ring.js';
import { startParts } from './serve.js';

/** The thread that `startBackground` starts. */
async function run(say: (message: ToMain) => void, stopAsked: Promise<void>): Promise<void> {
  const { config, backends } = workerData as Brief; // what startBackground gave
  const metrics = {
    ...makeMetrics(),
    count: (...args: Parameters<Metrics['count']>) => say({ metric: 'count', args }),
    observe: (...args: Parameters<Metrics['observe']>) => say({ metric: 'observe', args }),
  };
  const log = makeLogger({ level: config.logLevel, fd: 2 });
  const running = await startParts(config, withBuffers(backends), ['projector', 'worker'], log, metrics);
  say({ ready: true });
  await stopAsked;
  await running.stop();
  say({ stopped: true });
}

/** Between threads, buffers become plain bytes. */
const withBuffers = ({ keks: { current, all }, ...urls }: Backends): Backends => {
  const whole = ({ number, key }: Kek): Kek => ({ number, key: Buffer.from(key) });
  return { ...urls, keks: { current: whole(current), all: all.map(whole) } };
};

if (parentPort) {
  const port = parentPort;
  const stopAsked = new Promise<void>((resolve) => port.once('message', () => resolve()));
  run((message) => port.postMessage(message), stopAsked).catch((fault: unknown) => {
    port.postMessage({
      failed: fault instanceof Error ? fault.message : 'The background could not start.',
      ...(fault instanceof BackendUnavailable && { backend: fault.backend }),
    } satisfies ToMain);
  });
}
