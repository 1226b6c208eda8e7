import { z } from 'zod';
import type { LogBinding } from '../../application/ports/log-binding.js';
import { connect, run } from './connection.js';

const key = 'palimpsest:log';

const boundHash = z.object({ logId: z.string().optional(), position: z.coerce.bigint().default(-1n) });

/** Sets the fields unless another log is named there, or a higher position. */
const noteScript = `
local known = redis.call('HGET', KEYS[1], 'logId')
if known and known ~= ARGV[1] then return 0 end
local seen = redis.call('HGET', KEYS[1], 'position')
if seen and (#seen > #ARGV[2] or (#seen == #ARGV[2] and seen >= ARGV[2])) then return 0 end
redis.call('HSET', KEYS[1], 'logId', ARGV[1], 'position', ARGV[2])
return 1`;

/** Redis keeps it beside the words of the pads, so that a copy of both belongs to the same log. */
export function openLogBinding(url: string): LogBinding & { close(): Promise<void> } {
  const redis = connect(url);
  return {
    backend: 'redis',
    read: () =>
      run(async () => {
        const { logId, position } = boundHash.parse(await redis.hgetall(key));
        return { logId, position };
      }),
    note: (logId, position) =>
      run(async () => {
        await redis.eval(noteScript, 1, key, logId, position.toString());
      }),
    adopt: (logId, position) =>
      run(async () => {
        await redis.hset(key, { logId, position: position.toString() });
      }),
    close() {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}
