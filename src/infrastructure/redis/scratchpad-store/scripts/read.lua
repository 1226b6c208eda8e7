-- Reads elements of a list in one direction, as many as fit, but at least one.
-- KEYS list; ARGV index to begin at (0: the last), direction (1 or -1), most elements, most bytes. Answers the length
-- of the list with its header, the header, and the elements.
local length = redis.call('LLEN', KEYS[1])
local at, way, left, bytes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if at == 0 then at = length - 1 end
local taken = {}
while left > 0 and bytes > 0 and at > 0 and at < length do
  local far = math.max(1, at + way * (math.min(left, 16) - 1))
  local some = redis.call('LRANGE', KEYS[1], math.min(at, far), math.max(at, far))
  local from, to = 1, #some
  if way < 0 then from, to = #some, 1 end
  for place = from, to, way do
    bytes = bytes - #some[place]
    if bytes < 0 and #taken > 0 then break end
    taken[#taken + 1] = some[place]
  end
  left = left - #some
  at = far + way
end
return { length, redis.call('LINDEX', KEYS[1], 0), taken }
