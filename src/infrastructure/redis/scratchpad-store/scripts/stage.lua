-- Stages a text for a content event, and marks the pad dirty.
-- KEYS content, touched; ARGV revision, event id, text, pad.
-- Begins with names.lua.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local name = ARGV[1] .. ':' .. ARGV[2]
redis.call('HSET', KEYS[1], 'staged:' .. name, ARGV[3])
keep('stages', with(names('stages'), name))
redis.call('SADD', KEYS[2], ARGV[4])
return 1
