-- Lifts a list to a generation and length; missing elements become `lostElement` of entry-form.ts (spelled out below).
-- KEYS entries; ARGV generation, length. Answers how many were missing.
local text = redis.call('LINDEX', KEYS[1], 0)
if not text then return 0 end
local header = cjson.decode(text)
local clears = tonumber(ARGV[1])
if (header.clears or 0) > clears then return 0 end
if (header.clears or 0) < clears then
  redis.call('UNLINK', KEYS[1])
  header = { form = 1, clears = clears }
  redis.call('RPUSH', KEYS[1], cjson.encode(header))
end
local missing = tonumber(ARGV[2]) - (redis.call('LLEN', KEYS[1]) - 1)
if missing <= 0 then return 0 end
header.gaps = (header.gaps or 0) + missing
redis.call('LSET', KEYS[1], 0, cjson.encode(header))
local chunk = {}
for place = 1, missing do
  chunk[#chunk + 1] = 'null'
  if #chunk == 1000 or place == missing then
    redis.call('RPUSH', KEYS[1], unpack(chunk))
    chunk = {}
  end
end
return missing
