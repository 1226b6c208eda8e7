-- Makes a staged text the content unless a later one is, and drops every staged text that is now too old.
-- KEYS content; ARGV revision, event id, at.
-- Begins with names.lua.
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
return current >= revision and 1 or 0
