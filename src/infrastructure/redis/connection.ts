import { Redis } from 'ioredis';
import { BackendUnavailable } from '../../application/faults/errors.js';

const connectedWithinMs = 5_000;

/**
 * Opens a client that fails at once when the outcome is not known: it neither queues while disconnected nor sends a command
 * twice, and it gives up a connection that has fallen silent. It reconnects by itself.
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
  redis.on('error', () => undefined); // Every command rejects for its own caller.
  return redis;
}

/** Waits for the first connection, so that a start does not fail for being early. Fails when: the login is refused, or 5 s passed → BackendUnavailable. */
export async function untilReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => end(() => reject(new BackendUnavailable('redis'))), connectedWithinMs);
    const ready = () => end(resolve);
    const refused = (failure: Error) => {
      if (/^(WRONGPASS|NOAUTH|NOPERM)\b/.test(failure.message)) end(() => reject(unavailable(failure)));
    };
    const end = (answer: () => void) => {
      clearTimeout(late);
      redis.off('ready', ready).off('error', refused);
      answer();
    };
    redis.on('ready', ready).on('error', refused);
  });
}

/** Runs commands. Fails when: anything goes wrong → BackendUnavailable; the outcome is then not known. */
export async function run<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (failure) {
    throw unavailable(failure);
  }
}

/** Passes on only the kind of a driver's error. Why: the error has the command's arguments. */
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

/** The replies of a transaction. Fails when: one of its commands failed → its error. Why: EXEC does not undo the others. */
export function replies(results: [error: Error | null, result: unknown][] | null): unknown[] {
  if (!results) throw new Error('EXECABORT');
  return results.map(([error, result]) => {
    if (error) throw error;
    return result;
  });
}
