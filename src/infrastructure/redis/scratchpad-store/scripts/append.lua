-- Appends an element to a list that exists, and marks the pad dirty.
-- KEYS entries, touched; ARGV element, pad. Answers 0 when the list is absent, its length when its header is
-- `header` of entry-form.ts (spelled out below), else length and header.
local length = redis.call('RPUSHX', KEYS[1], ARGV[1])
if length == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
local header = redis.call('LINDEX', KEYS[1], 0)
if header == '{"form":1}' then return length end
return { length, header }
