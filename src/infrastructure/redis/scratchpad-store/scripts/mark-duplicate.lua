-- Marks an index as a duplicate if the entry is what stands there (entry-form.ts: its id comes first).
-- KEYS entries; ARGV generation, index, entry id, first index.
local text = redis.call('LINDEX', KEYS[1], 0)
if not text then return 0 end
local header = cjson.decode(text)
if (header.clears or 0) ~= tonumber(ARGV[1]) then return 0 end
local element = redis.call('LINDEX', KEYS[1], ARGV[2])
if not element or string.sub(element, 1, #ARGV[3] + 4) ~= '["' .. ARGV[3] .. '",' then return 0 end
header.gaps = (header.gaps or 0) + 1
redis.call('LSET', KEYS[1], 0, cjson.encode(header))
redis.call('LSET', KEYS[1], ARGV[2], '{"entryId":"' .. ARGV[3] .. '","of":' .. ARGV[4] .. '}')
return 1
