import { setTimeout } from 'node:timers/promises';

/** Spaces out the rounds of background work: waits, but no longer than until it is over. */
export async function pause(ms: number, ended: AbortSignal): Promise<void> {
  // It rejects only because it is over, which whoever waits looks at next.
  await setTimeout(ms, undefined, { signal: ended }).catch(() => undefined);
}
