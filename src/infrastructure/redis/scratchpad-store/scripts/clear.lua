-- Moves the list aside under a clear id and begins the next generation; the same clear answers the same again.
-- KEYS content, entries, cleared copy, touched; ARGV clear id, pad.
-- Answers the number of entries removed and the last element.
-- Begins with names.lua.
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
return { redis.call('LLEN', KEYS[3]) - 1 - (old.gaps or 0), redis.call('LINDEX', KEYS[3], -1) }
