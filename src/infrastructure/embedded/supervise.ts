import { setTimeout as pause } from 'node:timers/promises';
import type { BackendNeeds } from './backend.js';
import type { Kept } from './kept.js';
import { StartupError } from '../startup-error.js';

const patience = [0, 250, 1000, 4000];
const calmMs = 60_000;

/** Watches a backend that serves: one that ends is launched again, after ever longer pauses, until that stops helping. */
export function supervise(
  name: string,
  first: Kept,
  launch: () => Promise<Kept>,
  { log, onLost }: Pick<BackendNeeds, 'log' | 'onLost'>,
  backOffMs: readonly number[] = patience,
): () => Promise<void> {
  let current = first;
  let stopping = false;
  const isStopping = () => stopping; // Asked after a wait, when it may have changed.

  async function watch(): Promise<void> {
    for (let failures = 0, since = Date.now(); ; since = Date.now()) {
      const how = await current.ended;
      if (isStopping()) return;
      if (Date.now() - since > calmMs) failures = 0;
      log(`${name} ended by itself (${how}) and is started again.`);
      const next = await relaunch(() => failures++);
      if (!next) return;
      log(`${name} serves again.`);
      current = next;
    }
  }

  async function relaunch(nextFailure: () => number): Promise<Kept | undefined> {
    for (;;) {
      const delay = backOffMs[nextFailure()];
      if (delay === undefined) {
        onLost(new StartupError(`${name} ended and could not be started again.`));
        return undefined;
      }
      await pause(delay);
      if (isStopping()) return undefined;
      try {
        const next = await launch();
        if (!isStopping()) return next;
        await next.stop();
        return undefined;
      } catch (error) {
        log(error instanceof Error ? error.message : `${name} did not start.`);
      }
    }
  }

  const watching = watch();
  return async () => {
    stopping = true;
    await current.stop();
    await watching;
  };
}
