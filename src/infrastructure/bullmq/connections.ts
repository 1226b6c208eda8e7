import type { RedisOptions } from 'bullmq';

/** Fails at once when Redis is away, instead of keeping a request waiting. */
export const queueConnection = (url: string): RedisOptions => ({
  ...address(url),
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: 2_000,
  retryStrategy,
});

/** Waits for Redis, however long it is away. */
export const workerConnection = (url: string): RedisOptions => ({
  ...address(url),
  maxRetriesPerRequest: null,
  retryStrategy,
});

/** Names the kind of a driver's error. Why: the error may quote its command's arguments. */
export function failureName(failure: unknown): string {
  if (!(failure instanceof Error)) return typeof failure;
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : failure.name;
}

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 1_000);

function address(url: string): RedisOptions {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 6379 : Number(port),
    db: Number(pathname.slice(1)) || 0,
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
