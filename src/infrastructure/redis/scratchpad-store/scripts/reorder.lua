-- Puts the elements of a list into another order, if it is still as it was read; a hole is `lostElement` of
-- entry-form.ts (spelled out below). Forgets idempotency keys of appends.
-- KEYS content, entries; ARGV generation, layout version, length, order as runs of [from, count] (from 0: holes),
-- ids of the entries whose keys are forgotten.
local text = redis.call('LINDEX', KEYS[2], 0)
if not text then return 0 end
local header = cjson.decode(text)
local same = (header.clears or 0) == tonumber(ARGV[1]) and (header.arranged or 0) == tonumber(ARGV[2])
if not same or redis.call('LLEN', KEYS[2]) - 1 ~= tonumber(ARGV[3]) then return 0 end
local old = redis.call('LRANGE', KEYS[2], 1, -1)
local new = {}
header.gaps = 0
for _, run in ipairs(cjson.decode(ARGV[4])) do
  for step = 0, run[2] - 1 do
    local element = run[1] == 0 and 'null' or old[run[1] + step]
    if string.sub(element, 1, 1) ~= '[' then header.gaps = header.gaps + 1 end
    new[#new + 1] = element
  end
end
header.arranged = (header.arranged or 0) + 1
redis.call('UNLINK', KEYS[2])
redis.call('RPUSH', KEYS[2], cjson.encode(header))
for from = 1, #new, 1000 do redis.call('RPUSH', KEYS[2], unpack(new, from, math.min(from + 999, #new))) end
for place = 5, #ARGV do redis.call('HDEL', KEYS[1], 'entry:' .. ARGV[place]) end
return 1
