-- Appends an element once per entry id, and remembers that in the hash: generation, index, time, digest.
-- KEYS entries, touched, content; ARGV element, pad, entry id, digest, at.
local before = redis.call('HGET', KEYS[3], 'entry:' .. ARGV[3])
if before then return { 0, before } end
local length = redis.call('RPUSHX', KEYS[1], ARGV[1])
if length == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
local header = redis.call('LINDEX', KEYS[1], 0)
local clears = string.match(header, '"clears":(%d+)') or '0'
redis.call('HSET', KEYS[3], 'entry:' .. ARGV[3], clears .. ' ' .. (length - 1) .. ' ' .. ARGV[5] .. ' ' .. ARGV[4])
return { length, header }
