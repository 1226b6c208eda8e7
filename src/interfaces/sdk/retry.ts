import { PalimpsestError } from './errors.js';

/** How often, and how patiently, something is tried again. */
export interface RetryPolicy {
  readonly retries: number;
  readonly maxDelayMs: number;
}

const firstDelayMs = 100;

/**
 * Milliseconds to wait before retry number `retry` (from 1): twice as long each time, somewhat at random so that many
 * clients do not come back at once, and no sooner than the server said. Undefined: not again.
 */
export function delayBefore(retry: number, fault: unknown, { retries, maxDelayMs }: RetryPolicy): number | undefined {
  if (retry > retries || !(fault instanceof PalimpsestError) || !fault.retryable) return undefined;
  const serverDelayMs = (fault.retryAfterSeconds ?? 0) * 1000;
  if (serverDelayMs > maxDelayMs) return undefined;
  return Math.max(serverDelayMs, backoff(retry, maxDelayMs));
}

export const backoff = (retry: number, maxDelayMs: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** (retry - 1)) * (0.5 + Math.random() / 2);

/** Does it, and does it again for as long as the policy has it. What it is must be harmless to do twice. */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let retry = 1; ; retry += 1) {
    try {
      return await attempt();
    } catch (fault) {
      const ms = delayBefore(retry, fault, policy);
      if (ms === undefined) throw fault;
      await pause(ms, signal);
    }
  }
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
    if (signal?.aborted) finish();
  });
