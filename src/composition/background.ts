import { extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { BackendUnavailable } from '../application/faults/errors.js';
import type { Metrics } from '../application/ports/telemetry.js';
import type { Backends } from './tokens.js';
import type { Config } from '../infrastructure/config.js';
import { StartupError } from '../infrastructure/startup-error.js';

/** What a thread is started with, and what the two sides say to each other. */
export interface Brief {
  readonly config: Config;
  readonly backends: Backends;
}
export type ToMain =
  | { readonly ready: true }
  | { readonly failed: string; readonly backend?: BackendUnavailable['backend'] }
  | { readonly stopped: true }
  | { readonly metric: 'count' | 'observe'; readonly args: readonly unknown[] };

/** Megabytes for short-lived objects: a batch of events should not outlive them. */
const youngMegabytes = 64;
/** What is cut off here is done again from the checkpoint. */
const stopWithinMs = 10_000;

/** As it would have been thrown in this thread. */
const failureIn = ({ failed, backend }: Extract<ToMain, { readonly failed: string }>): Error =>
  backend === undefined ? new StartupError(failed) : new BackendUnavailable(backend);

/**
 * Runs the projector and the workers of a server in a thread of their own, so that what they do in the background does
 * not make requests wait. Their metrics are counted with the server's. `lost` hears of a thread that ended unasked.
 */
export async function startBackground(
  config: Config,
  backends: Backends,
  metrics: Metrics,
  lost: () => void,
): Promise<{ stop(): Promise<void> }> {
  const thread = new Worker(join(__dirname, `background-thread${extname(__filename)}`), {
    workerData: { config, backends } satisfies Brief,
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  });
  let stopping = false;
  const said = (wanted: 'ready' | 'stopped') =>
    new Promise<void>((resolve, reject) => {
      thread.on('message', (message: ToMain) => {
        if ('failed' in message) reject(failureIn(message));
        else if (wanted in message) resolve();
      });
      thread.once('error', reject);
      thread.once('exit', () => (stopping ? resolve() : reject(new StartupError('The background thread ended.'))));
    });
  thread.on('message', (message: ToMain) => {
    // The other side sends what its own metrics port was called with.
    if ('metric' in message) (metrics[message.metric] as (...args: readonly unknown[]) => void)(...message.args);
  });
  await said('ready');
  thread.once('exit', () => {
    if (!stopping) lost();
  });
  return {
    async stop() {
      stopping = true;
      const stopped = said('stopped');
      thread.postMessage('stop');
      await Promise.race([stopped, pause(stopWithinMs, undefined, { ref: false })]);
      await thread.terminate();
    },
  };
}
