-- KEYS entries, touched; ARGV element, pad. On a ledger with a plain header the length is all there is to
-- answer.
local length = redis.call('RPUSHX', KEYS[1], ARGV[1])
if length == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
local header = redis.call('LINDEX', KEYS[1], 0)
if header == '{"form":1}' then return length end
return { length, header }
