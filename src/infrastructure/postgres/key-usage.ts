import { LRUCache } from 'lru-cache';
import { sql } from '../../../projections/kit/sql.js';
import type { Clock } from '../../application/ports/clock.js';
import type { KeyUsage } from '../../application/ports/key-usage.js';
import type { Logger } from '../../application/ports/telemetry.js';
import type { Statements } from './database.js';

const flushEveryMs = 10_000;
const noteEveryMs = 60_000;
/** Keys used longest ago are forgotten first; that only costs an earlier write. */
const notedKeys = 50_000;

export interface WrittenKeyUsage extends KeyUsage {
  /** Writes what is still to be written, then stops. */
  close(): Promise<void>;
}

/** Notes the use of keys, written behind in batches. A lost batch costs no more than a few minutes of "last used". */
export function startKeyUsage(system: Statements, clock: Clock, log: Logger): WrittenKeyUsage {
  const noted = new LRUCache<string, number>({ max: notedKeys });
  let pending = new Map<string, { readonly ownerId: string; readonly at: string }>();

  async function flush(): Promise<void> {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    const uses = [...batch.values()];
    try {
      await system.run(sql`
        insert into read_models.key_usage as kept (key_id, owner_id, last_used_at)
        select * from unnest(${[...batch.keys()]}::text[], ${uses.map(({ ownerId }) => ownerId)}::text[],
          ${uses.map(({ at }) => at)}::timestamptz[])
        on conflict (key_id) do update set last_used_at = greatest(kept.last_used_at, excluded.last_used_at)`);
    } catch {
      log.warn({ keys: batch.size }, 'the use of keys could not be written yet');
      pending = new Map([...batch, ...pending]);
    }
  }

  const timer = setInterval(() => void flush(), flushEveryMs);
  timer.unref();
  return {
    touch(keyId, ownerId) {
      const now = clock.now();
      const before = noted.get(keyId);
      if (before !== undefined && now.getTime() - before < noteEveryMs) return;
      noted.set(keyId, now.getTime());
      pending.set(keyId, { ownerId, at: now.toISOString() });
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
