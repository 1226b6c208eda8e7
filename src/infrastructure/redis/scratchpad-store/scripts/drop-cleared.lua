-- Drops what a clear removed.
-- KEYS content, cleared copy; ARGV clear id.
-- Begins with names.lua.
local list = names('clears')
local left = without(list, ARGV[1])
if left ~= list then keep('clears', left) end
return redis.call('UNLINK', KEYS[2])
