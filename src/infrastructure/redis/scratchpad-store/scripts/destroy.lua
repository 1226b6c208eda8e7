-- Removes every key of a pad.
-- KEYS content, entries; ARGV first part of the copies' names.
-- Begins with names.lua.
local gone = 0
for clearId in string.gmatch(names('clears'), '%S+') do gone = gone + redis.call('UNLINK', ARGV[1] .. clearId) end
return gone + redis.call('UNLINK', KEYS[1], KEYS[2])
