import type { Redis } from 'ioredis';
import type { PadRef } from '../../../application/ports/pad-keys.js';
import { run } from '../connection.js';

const pageSize = 500;
const special = /[*?[\]\\^-]/g;

/** All pads that have keys, found by their content key, or by any other key whose content key is missing. */
export async function* scanPads(redis: Redis, prefix: string): AsyncIterable<PadRef> {
  // SCAN knows nothing of prefixes, so the pattern has to.
  const pattern = `${prefix.replace(special, '\\$&')}scratchpad:*`;
  let cursor = '0';
  do {
    const [next, keys] = await run(() => redis.scan(cursor, 'MATCH', pattern, 'COUNT', pageSize));
    cursor = next;
    const pads = new Map<string, { readonly pad: PadRef; readonly byContent: boolean }>();
    for (const key of keys) {
      const found = named(key.slice(prefix.length));
      if (found)
        pads.set(found.name, {
          pad: found.pad,
          byContent: found.byContent || pads.get(found.name)?.byContent === true,
        });
    }
    for (const [name, { pad, byContent }] of pads) {
      // Where there is a content key, it turns up in the scan sooner or later and names the pad there.
      if (byContent || (await run(() => redis.exists(`${prefix}${name}:content`))) === 0) yield pad;
    }
  } while (cursor !== '0');
}

function named(key: string): { readonly name: string; readonly pad: PadRef; readonly byContent: boolean } | undefined {
  const [kind, ownerId, scratchpadId, part] = key.split(':');
  if (kind !== 'scratchpad' || !ownerId || !scratchpadId || !part) return undefined;
  const name = `scratchpad:${ownerId}:${scratchpadId}`;
  return { name, pad: { ownerId, scratchpadId }, byContent: part === 'content' };
}
