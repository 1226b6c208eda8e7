-- Moves dirty pads to those that an audit has taken, and answers some of them.
-- KEYS touched, audited; ARGV most pads.
redis.call('SUNIONSTORE', KEYS[2], KEYS[2], KEYS[1])
redis.call('DEL', KEYS[1])
return redis.call('SRANDMEMBER', KEYS[2], ARGV[1])
