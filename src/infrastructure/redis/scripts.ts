import type { Redis } from 'ioredis';

// Why scripts, and why these four: docs/decisions/0003-content-is-a-hash.md. Each is one atomic step on one pad.

const stage = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'staged:' .. ARGV[1] .. ':' .. ARGV[2], ARGV[3])
return 1`;

const promote = `
local current = tonumber(redis.call('HGET', KEYS[1], 'revision') or '')
if not current then return 0 end
local revision = tonumber(ARGV[1])
if revision > current then
  local body = redis.call('HGET', KEYS[1], 'staged:' .. ARGV[1] .. ':' .. ARGV[2])
  if body then
    redis.call('HSET', KEYS[1], 'revision', ARGV[1], 'at', ARGV[3], 'body', body)
    current = revision
  end
end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local staged = tonumber(string.match(field, '^staged:(%d+):') or '')
  if staged and staged <= current then redis.call('HDEL', KEYS[1], field) end
end
return 1`;

const clearEntries = `
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 0 then return false end
if redis.call('EXISTS', KEYS[3]) == 0 then
  local header = redis.call('LINDEX', KEYS[2], 0)
  redis.call('HSET', KEYS[1], 'cleared:' .. ARGV[1], '')
  redis.call('RENAME', KEYS[2], KEYS[3])
  redis.call('RPUSH', KEYS[2], header)
end
return { redis.call('LLEN', KEYS[3]) - 1, redis.call('LINDEX', KEYS[3], -1) }`;

const destroy = `
local gone = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local clearId = string.match(field, '^cleared:(.*)$')
  if clearId then gone = gone + redis.call('DEL', ARGV[1] .. clearId) end
end
return gone + redis.call('DEL', KEYS[1], KEYS[2])`;

/** The scripts as commands of a client. */
export interface PadScripts {
  padStage(content: string, revision: number, eventId: string, body: string): Promise<number>;
  padPromote(content: string, revision: number, eventId: string, at: string): Promise<number>;
  padClearEntries(
    content: string,
    entries: string,
    cleared: string,
    clearId: string,
  ): Promise<readonly [count: number, last: string] | null>;
  padDestroy(content: string, entries: string, clearedPrefix: string): Promise<number>;
}

export function withScripts(redis: Redis): Redis & PadScripts {
  redis.defineCommand('padStage', { numberOfKeys: 1, lua: stage });
  redis.defineCommand('padPromote', { numberOfKeys: 1, lua: promote });
  redis.defineCommand('padClearEntries', { numberOfKeys: 3, lua: clearEntries });
  redis.defineCommand('padDestroy', { numberOfKeys: 2, lua: destroy });
  return redis as Redis & PadScripts; // It has just been given them.
}
