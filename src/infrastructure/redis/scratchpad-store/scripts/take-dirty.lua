-- KEYS touched, being audited: what was touched joins what is still being audited.
redis.call('SUNIONSTORE', KEYS[2], KEYS[2], KEYS[1])
redis.call('DEL', KEYS[1])
return redis.call('SRANDMEMBER', KEYS[2], ARGV[1])
