-- Drops a staged text.
-- KEYS content; ARGV revision, event id.
-- Begins with names.lua.
local name = ARGV[1] .. ':' .. ARGV[2]
if redis.call('HDEL', KEYS[1], 'staged:' .. name) == 1 then keep('stages', without(names('stages'), name)) end
return 1
