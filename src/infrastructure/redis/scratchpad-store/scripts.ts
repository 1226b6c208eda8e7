import type { Redis } from 'ioredis';
import { header, lostElement } from './entry-form.js';

// Why scripts, and why these: docs/decisions/0003-content-is-a-hash.md and 0030-ledger-and-stream.md. Each is one atomic
// step on one pad. Names of staged texts and unfinished clears stand in lists of their own (fields `stages`, `clears`), so
// that no script walks a hash that also remembers thousands of keyed appends.

/** Lists of names in one field, separated by blanks. */
const names = `
local function names(field)
  return redis.call('HGET', KEYS[1], field) or ''
end
local function keep(field, list)
  if list == '' then redis.call('HDEL', KEYS[1], field) else redis.call('HSET', KEYS[1], field, list) end
end
local function without(list, name)
  local left = {}
  for one in string.gmatch(list, '%S+') do if one ~= name then left[#left + 1] = one end end
  return table.concat(left, ' ')
end
local function with(list, name)
  local others = without(list, name)
  return others == '' and name or others .. ' ' .. name
end`;

/** KEYS entries, touched; ARGV element, pad. On a ledger with a plain header the length is all there is to answer. */
const append = `
local length = redis.call('RPUSHX', KEYS[1], ARGV[1])
if length == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
local header = redis.call('LINDEX', KEYS[1], 0)
if header == '${header}' then return length end
return { length, header }`;

/** KEYS entries, touched, content; ARGV element, pad, entry id, digest, at. */
const appendKeyed = `
local before = redis.call('HGET', KEYS[3], 'entry:' .. ARGV[3])
if before then return { 0, before } end
local length = redis.call('RPUSHX', KEYS[1], ARGV[1])
if length == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
local header = redis.call('LINDEX', KEYS[1], 0)
local clears = string.match(header, '"clears":(%d+)') or '0'
redis.call('HSET', KEYS[3], 'entry:' .. ARGV[3], clears .. ' ' .. (length - 1) .. ' ' .. ARGV[5] .. ' ' .. ARGV[4])
return { length, header }`;

/** KEYS content, touched; ARGV revision, event id, text, pad. */
const stage = `${names}
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local name = ARGV[1] .. ':' .. ARGV[2]
redis.call('HSET', KEYS[1], 'staged:' .. name, ARGV[3])
keep('stages', with(names('stages'), name))
redis.call('SADD', KEYS[2], ARGV[4])
return 1`;

/** KEYS content; ARGV revision, event id, at. */
const promote = `${names}
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
local list = names('stages')
local left = list
for name in string.gmatch(list, '%S+') do
  if tonumber(string.match(name, '^(%d+):')) <= current then
    redis.call('HDEL', KEYS[1], 'staged:' .. name)
    left = without(left, name)
  end
end
if left ~= list then keep('stages', left) end
return current >= revision and 1 or 0`;

/** KEYS content; ARGV revision, event id. */
const unstage = `${names}
local name = ARGV[1] .. ':' .. ARGV[2]
if redis.call('HDEL', KEYS[1], 'staged:' .. name) == 1 then keep('stages', without(names('stages'), name)) end
return 1`;

/** KEYS content, entries, cleared copy, touched; ARGV clear id, pad. */
const clearEntries = `${names}
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 0 then return false end
local header = cjson.decode(redis.call('LINDEX', KEYS[2], 0))
if redis.call('EXISTS', KEYS[3]) == 0 then
  if header.by == ARGV[1] then return { header.removed, '' } end
  local removed = redis.call('LLEN', KEYS[2]) - 1 - (header.gaps or 0)
  local next = { form = 1, clears = (header.clears or 0) + 1, by = ARGV[1], removed = removed }
  keep('clears', with(names('clears'), ARGV[1]))
  redis.call('RENAME', KEYS[2], KEYS[3])
  redis.call('RPUSH', KEYS[2], cjson.encode(next))
  redis.call('SADD', KEYS[4], ARGV[2])
end
local old = cjson.decode(redis.call('LINDEX', KEYS[3], 0))
return { redis.call('LLEN', KEYS[3]) - 1 - (old.gaps or 0), redis.call('LINDEX', KEYS[3], -1) }`;

/** KEYS content, cleared copy; ARGV clear id. */
const forgetCleared = `${names}
local list = names('clears')
local left = without(list, ARGV[1])
if left ~= list then keep('clears', left) end
return redis.call('UNLINK', KEYS[2])`;

/** KEYS content, entries; ARGV first part of the copies' names. */
const destroy = `${names}
local gone = 0
for clearId in string.gmatch(names('clears'), '%S+') do gone = gone + redis.call('UNLINK', ARGV[1] .. clearId) end
return gone + redis.call('UNLINK', KEYS[1], KEYS[2])`;

/** KEYS entries; ARGV clears, length. */
const mend = `
local text = redis.call('LINDEX', KEYS[1], 0)
if not text then return 0 end
local header = cjson.decode(text)
local clears = tonumber(ARGV[1])
if (header.clears or 0) > clears then return 0 end
if (header.clears or 0) < clears then
  redis.call('UNLINK', KEYS[1])
  header = { form = 1, clears = clears }
  redis.call('RPUSH', KEYS[1], cjson.encode(header))
end
local missing = tonumber(ARGV[2]) - (redis.call('LLEN', KEYS[1]) - 1)
if missing <= 0 then return 0 end
header.gaps = (header.gaps or 0) + missing
redis.call('LSET', KEYS[1], 0, cjson.encode(header))
local chunk = {}
for place = 1, missing do
  chunk[#chunk + 1] = 'null'
  if #chunk == 1000 or place == missing then
    redis.call('RPUSH', KEYS[1], unpack(chunk))
    chunk = {}
  end
end
return missing`;

/**
 * KEYS list; ARGV index to begin at (0: the last), way (1 or -1), most elements, most bytes. Answers the list's length,
 * its header, and elements along the way, one at least: whoever reads large ones gets few at once.
 */
const read = `
local length = redis.call('LLEN', KEYS[1])
local at, way, left, bytes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if at == 0 then at = length - 1 end
local taken = {}
while left > 0 and bytes > 0 and at > 0 and at < length do
  local far = math.max(1, at + way * (math.min(left, 16) - 1))
  local some = redis.call('LRANGE', KEYS[1], math.min(at, far), math.max(at, far))
  local from, to = 1, #some
  if way < 0 then from, to = #some, 1 end
  for place = from, to, way do
    bytes = bytes - #some[place]
    if bytes < 0 and #taken > 0 then break end
    taken[#taken + 1] = some[place]
  end
  left = left - #some
  at = far + way
end
return { length, redis.call('LINDEX', KEYS[1], 0), taken }`;

/** KEYS content, entries; ARGV clears, arranged, length, order as runs of [from, count] (from 0: empty places), entry ids. */
const rearrange = `
local text = redis.call('LINDEX', KEYS[2], 0)
if not text then return 0 end
local header = cjson.decode(text)
local same = (header.clears or 0) == tonumber(ARGV[1]) and (header.arranged or 0) == tonumber(ARGV[2])
if not same or redis.call('LLEN', KEYS[2]) - 1 ~= tonumber(ARGV[3]) then return 0 end
local old = redis.call('LRANGE', KEYS[2], 1, -1)
local new = {}
header.gaps = 0
for _, run in ipairs(cjson.decode(ARGV[4])) do
  for step = 0, run[2] - 1 do
    local element = run[1] == 0 and '${lostElement}' or old[run[1] + step]
    if string.sub(element, 1, 1) ~= '[' then header.gaps = header.gaps + 1 end
    new[#new + 1] = element
  end
end
header.arranged = (header.arranged or 0) + 1
redis.call('UNLINK', KEYS[2])
redis.call('RPUSH', KEYS[2], cjson.encode(header))
for from = 1, #new, 1000 do redis.call('RPUSH', KEYS[2], unpack(new, from, math.min(from + 999, #new))) end
for place = 5, #ARGV do redis.call('HDEL', KEYS[1], 'entry:' .. ARGV[place]) end
return 1`;

/** KEYS entries; ARGV clears, index, entry id, first index. */
const repeat = `
local text = redis.call('LINDEX', KEYS[1], 0)
if not text then return 0 end
local header = cjson.decode(text)
if (header.clears or 0) ~= tonumber(ARGV[1]) then return 0 end
local element = redis.call('LINDEX', KEYS[1], ARGV[2])
if not element or string.sub(element, 1, #ARGV[3] + 4) ~= '["' .. ARGV[3] .. '",' then return 0 end
header.gaps = (header.gaps or 0) + 1
redis.call('LSET', KEYS[1], 0, cjson.encode(header))
redis.call('LSET', KEYS[1], ARGV[2], '{"entryId":"' .. ARGV[3] .. '","of":' .. ARGV[4] .. '}')
return 1`;

/** KEYS touched, being audited: what was touched joins what is still being audited. */
const takeTouched = `
redis.call('SUNIONSTORE', KEYS[2], KEYS[2], KEYS[1])
redis.call('DEL', KEYS[1])
return redis.call('SRANDMEMBER', KEYS[2], ARGV[1])`;

/** The length of the list with its header, and the header; a length of 0 with what an earlier append was; 0 alone: absent. */
type AppendReply = number | readonly [length: number, told: string];

/** The scripts as commands of a client. */
export interface PadScripts {
  padAppend(entries: string, touched: string, element: string, pad: string): Promise<AppendReply>;
  padAppendKeyed(
    entries: string,
    touched: string,
    content: string,
    ...args: readonly [element: string, pad: string, entryId: string, digest: string, at: string]
  ): Promise<AppendReply>;
  padStage(
    content: string,
    touched: string,
    revision: number,
    eventId: string,
    body: string,
    pad: string,
  ): Promise<number>;
  padPromote(content: string, revision: number, eventId: string, at: string): Promise<number>;
  padUnstage(content: string, revision: number, eventId: string): Promise<number>;
  padClearEntries(
    content: string,
    entries: string,
    cleared: string,
    touched: string,
    clearId: string,
    pad: string,
  ): Promise<readonly [count: number, last: string] | null>;
  padForgetCleared(content: string, cleared: string, clearId: string): Promise<number>;
  padDestroy(content: string, entries: string, clearedPrefix: string): Promise<number>;
  padMend(entries: string, clears: number, length: number): Promise<number>;
  padRearrange(
    content: string,
    entries: string,
    ...args: readonly [clears: number, arranged: number, length: number, order: string, ...forget: readonly string[]]
  ): Promise<number>;
  padRepeat(entries: string, clears: number, index: number, entryId: string, of: number): Promise<number>;
  padTakeTouched(touched: string, audited: string, limit: number): Promise<readonly string[]>;
  padRead(
    list: string,
    ...args: readonly [from: number, way: 1 | -1, limit: number, bytes: number]
  ): Promise<readonly [length: number, header: string | null, elements: readonly string[]]>;
}

export function withScripts(redis: Redis): Redis & PadScripts {
  redis.defineCommand('padAppend', { numberOfKeys: 2, lua: append });
  redis.defineCommand('padAppendKeyed', { numberOfKeys: 3, lua: appendKeyed });
  redis.defineCommand('padStage', { numberOfKeys: 2, lua: stage });
  redis.defineCommand('padPromote', { numberOfKeys: 1, lua: promote });
  redis.defineCommand('padUnstage', { numberOfKeys: 1, lua: unstage });
  redis.defineCommand('padClearEntries', { numberOfKeys: 4, lua: clearEntries });
  redis.defineCommand('padForgetCleared', { numberOfKeys: 2, lua: forgetCleared });
  redis.defineCommand('padDestroy', { numberOfKeys: 2, lua: destroy });
  redis.defineCommand('padMend', { numberOfKeys: 1, lua: mend });
  redis.defineCommand('padRearrange', { numberOfKeys: 2, lua: rearrange });
  redis.defineCommand('padRepeat', { numberOfKeys: 1, lua: repeat });
  redis.defineCommand('padTakeTouched', { numberOfKeys: 2, lua: takeTouched });
  redis.defineCommand('padRead', { numberOfKeys: 1, lua: read });
  return redis as Redis & PadScripts; // It has just been given them.
}
