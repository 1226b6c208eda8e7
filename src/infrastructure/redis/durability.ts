import type { Redis } from 'ioredis';
import { StartupError } from '../startup-error.js';
import { run, unavailable, untilReady } from './connection.js';

/**
 * Checks that Redis keeps what it acknowledges; answers warnings where it may be lost in a power cut.
 * Fails when: Redis evicts keys → StartupError. Why: the scratchpad store is no cache.
 */
export async function assertDurable(redis: Redis): Promise<string[]> {
  await untilReady(redis);
  await assertDatabase(redis);
  const { policy, maxmemory, appendonly, fsync, truncated } = await settings(redis);
  const warnings: string[] = [];
  if (policy === undefined) {
    warnings.push(
      'Redis does not tell its settings (CONFIG is not allowed); make sure that it is append-only and never evicts.',
    );
    return warnings;
  }
  if (policy !== 'noeviction') {
    throw new StartupError(
      `Redis evicts keys (maxmemory-policy ${policy}${maxmemory === '0' ? ', without a limit so far' : ''}); set maxmemory-policy noeviction.`,
    );
  }
  if (appendonly !== 'yes') {
    warnings.push('Redis keeps no append-only file: acknowledged entries are lost when it stops. Set appendonly yes.');
  } else if (fsync !== 'always') {
    warnings.push(
      `Redis writes to disk after it has acknowledged (appendfsync ${fsync ?? 'unknown'}): a power cut can lose entries. Set appendfsync always.`,
    );
  }
  if (appendonly === 'yes' && truncated === 'yes') {
    warnings.push(
      'Redis passes over a torn end of its append-only file (aof-load-truncated yes): a second restart can then lose what was written since. Set aof-load-truncated no.',
    );
  }
  return warnings;
}

/** Refuses a missing database. Why: the client then continues in database 0 without an error. */
async function assertDatabase(redis: Redis): Promise<void> {
  const { db = 0 } = redis.options;
  if (db === 0) return;
  try {
    await redis.select(db);
  } catch (failure) {
    if (failure instanceof Error && /^(ERR|NOPERM)/.test(failure.message)) {
      throw new StartupError('REDIS_URL names a database that this Redis does not have or does not open.');
    }
    throw unavailable(failure);
  }
}

async function settings(redis: Redis) {
  const one = async (name: string): Promise<string | undefined> => {
    const reply = await redis.config('GET', name);
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined;
  };
  try {
    return {
      policy: await one('maxmemory-policy'),
      maxmemory: await one('maxmemory'),
      appendonly: await one('appendonly'),
      fsync: await one('appendfsync'),
      truncated: await one('aof-load-truncated'),
    };
  } catch (failure) {
    // Hosted servers refuse the command by name or by rule; everything else is a real failure.
    if (failure instanceof Error && /^(ERR|NOPERM)/.test(failure.message)) return {};
    return run(() => Promise.reject(failure as Error)); // An Error, or ioredis would not have thrown it.
  }
}
