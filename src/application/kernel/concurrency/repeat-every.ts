import { setTimeout } from 'node:timers/promises';

/** Waits, but no longer than until `stopped`. */
export async function pause(ms: number, stopped: AbortSignal): Promise<void> {
  // It rejects only because it is stopped, which the caller looks at next.
  await setTimeout(ms, undefined, { signal: stopped }).catch(() => undefined);
}

/** Waits until `signal` is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Runs work at once and then again and again, with a pause after each run, until `stopped`. Work must not throw. */
export async function repeatEvery(ms: number, stopped: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!stopped.aborted) {
    await work();
    await pause(ms, stopped);
  }
}
