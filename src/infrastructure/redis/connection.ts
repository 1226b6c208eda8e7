import { Redis } from 'ioredis';
import { BackendUnavailable } from '../../application/faults/errors.js';

const connectedWithinMs = 5_000;

/**
 * A client that says at once when it does not know: it neither queues while away nor sends a command a second time
 * (M3), and it gives up a connection that has fallen silent. It comes back by itself.
 */
export function connect(url: string): Redis {
  const redis = new Redis(url, {
    // Commands of one turn of the event loop leave together.
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: 1_000,
    socketTimeout: 2_000,
    connectTimeout: 2_000,
    disconnectTimeout: 200,
    retryStrategy: (attempt) => Math.min(attempt * 50, 500),
  });
  redis.on('error', () => undefined); // Every command tells its own caller.
  return redis;
}

/** Waits for the first connection, so that a start does not fail for being early; who is not let in is not early. */
export async function untilReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => settle(() => reject(new BackendUnavailable('redis'))), connectedWithinMs);
    const ready = () => settle(resolve);
    const refused = (failure: Error) => {
      if (/^(WRONGPASS|NOAUTH|NOPERM)\b/.test(failure.message)) settle(() => reject(unavailable(failure)));
    };
    const settle = (end: () => void) => {
      clearTimeout(late);
      redis.off('ready', ready).off('error', refused);
      end();
    };
    redis.on('ready', ready).on('error', refused);
  });
}

/** Runs commands; whatever goes wrong, the caller learns that the outcome is not known. */
export async function run<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (failure) {
    throw unavailable(failure);
  }
}

/** A driver's error holds the command's arguments, so only its kind is passed on (M11). */
export const unavailable = (failure: unknown): BackendUnavailable =>
  failure instanceof BackendUnavailable
    ? failure
    : new BackendUnavailable('redis', { cause: new Error(kindOf(failure)) });

function kindOf(failure: unknown): string {
  if (!(failure instanceof Error)) return typeof failure;
  if ('code' in failure && typeof failure.code === 'string') return failure.code;
  // Redis begins its errors with a word in capitals: READONLY, OOM, MISCONF.
  return /^[A-Z]{2,}\b/.exec(failure.message)?.[0] ?? failure.name;
}

/** The replies of a transaction, every one of which must have succeeded: EXEC does not undo the others (M5). */
export function replies(results: [error: Error | null, result: unknown][] | null): unknown[] {
  if (!results) throw new Error('EXECABORT');
  return results.map(([error, result]) => {
    if (error) throw error;
    return result;
  });
}
