-- Lists of names in one field, separated by blanks. Begins every script that uses it.
local function names(field)
  return redis.call('HGET', KEYS[1], field) or ''
end
local function keep(field, list)
  if list == '' then redis.call('HDEL', KEYS[1], field) else redis.call('HSET', KEYS[1], field, list) end
end
local function without(list, name)
  local left = {}
  for one in string.gmatch(list, '%S+') do if one ~= name then left[#left + 1] = one end end
  return table.concat(left, ' ')
end
local function with(list, name)
  local others = without(list, name)
  return others == '' and name or others .. ' ' .. name
end
