import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { projections } from '../../projections/index.js';
import { sql, type Sql } from '../../projections/kit/sql.js';
import { findFullyCovered } from '../../projections/ledgers.js';
import { findScratchpad } from '../../projections/scratchpads.js';
import type { LedgerEvent } from '../../src/domain/scratchpad/events.js';
import { MemoryScratchpadStore } from '../../src/infrastructure/memory/scratchpad-store.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import {
  header,
  headerOf,
  lostElement,
  readHeader,
} from '../../src/infrastructure/redis/scratchpad-store/entry-form.js';
import {
  openScratchpadStore,
  type RedisScratchpadStore,
} from '../../src/infrastructure/redis/scratchpad-store/scratchpad-store.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';
import { ledgerRules, listInStore, scratchpadId, storedOrders } from './ledger-rules.js';

// The list as a value and the fold of the stream stand in test/domain/ledger-list.test.ts, where no backend is needed.

const ownerId = 'ada';

describe('a ledger in a store', () => {
  const url = process.env['TEST_REDIS_URL'] ?? '';
  const keyPrefix = `test-${randomUUID()}:`;
  let inRedis: RedisScratchpadStore;
  beforeAll(async () => {
    inRedis = openScratchpadStore(url, { keyPrefix });
    await inRedis.assertDurable();
  });
  afterAll(async () => {
    const redis = new Redis(url);
    const keys = await redis.keys(`${keyPrefix}*`);
    if (keys.length > 0) await redis.del(keys);
    redis.disconnect();
    await inRedis.close();
  });

  it.each(ledgerRules)('in memory: $rule', async (rule) => {
    const { generation, elements } = rule.expected;
    expect(await listInStore(new MemoryScratchpadStore(), rule)).toMatchObject({ generation, elements });
  });

  it.each(ledgerRules)('in Redis: $rule', async (rule) => {
    const { generation, elements } = rule.expected;
    expect(await listInStore(inRedis, rule)).toMatchObject({ generation, elements });
  });
});

describe('the scripts of the Redis store', () => {
  const textOf = (name: string) =>
    readFileSync(join(__dirname, '../../src/infrastructure/redis/scratchpad-store/scripts', `${name}.lua`), 'utf8');

  it('spell the header of a new list as the adapter writes it', () => {
    expect(textOf('append')).toContain(`header == '${header}'`);
  });

  it.each(['fast-forward', 'reorder'])('%s spells a lost element as the adapter reads it', (script) => {
    expect(textOf(script)).toContain(`'${lostElement}'`);
  });

  it('spell the fields of a header as the adapter reads them', () => {
    const used = ['clear', 'fast-forward', 'mark-duplicate', 'reorder'].flatMap((script) => [
      ...textOf(script).matchAll(/\bheader\.(\w+)/g),
    ]);
    const fields = new Set(used.map(([, field]) => field));
    expect(fields).toEqual(new Set(['clears', 'gaps', 'arranged', 'by', 'removed']));
    expect(readHeader(headerOf(3, 2))).toEqual({ generation: 3, holes: 2, layoutVersion: 0 });
    expect(readHeader('{"form":1,"clears":3,"gaps":2,"arranged":4}')).toEqual({
      generation: 3,
      holes: 2,
      layoutVersion: 4,
    });
  });
});

describe('a ledger in its read model', () => {
  const kek = randomBytes(32);
  let fresh: FreshDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    await migrate({ url: fresh.url, kek, projections, log: quiet });
    database = openDatabase({ url: fresh.url, kek, log: quiet });
    await database.system.run(
      sql`insert into users (id, owner_id, name, role, workspace_id, created_at)
        values (${ownerId}, ${ownerId}, 'Ada', 'member', 'ws_1', now())`,
      sql`insert into threads (id, owner_id, metadata, created_at, updated_at, position)
        values ('thread_1', ${ownerId}, '{}', now(), now(), 1)`,
    );
  });
  afterAll(async () => {
    await database.close();
    await fresh.drop();
  });

  /** Makes the row of the pad anew and follows these events, each as the projector does. */
  async function follow(events: readonly LedgerEvent[]): Promise<void> {
    await database.system.run(
      sql`delete from scratchpads where id = ${scratchpadId}`,
      sql`insert into scratchpads
          (id, owner_id, thread_id, metadata, content_revision, entry_count, created_at, updated_at, position)
        values (${scratchpadId}, ${ownerId}, 'thread_1', '{}', 0, 0, now(), now(), 1)`,
    );
    for (const { type, data } of events) await database.system.run(...statementsFor(type, data));
  }

  it.each(ledgerRules)('$rule', async (rule) => {
    const { generation, elements, holes, covered } = rule.expected;
    const length = elements.length;
    const isWhole = length === 0 || (covered.length === 1 && covered[0]?.[1] === length);
    const reads = makeReadDbs(database).system;
    for (const events of storedOrders(rule)) {
      await follow(events);
      expect((await findScratchpad(reads, ownerId, scratchpadId))?.entryCount).toBe(length - holes);
      const asked = { ownerId, scratchpadId, generation, length };
      expect((await findFullyCovered(reads, [asked])).get(scratchpadId)).toBe(isWhole ? length : undefined);
    }
  });
});

/** What the handlers of the read models make of an event. */
function statementsFor(type: string, data: unknown): readonly Sql[] {
  return projections.flatMap(({ on }) => {
    const handlers: Readonly<Record<string, unknown>> = on;
    // A handler takes the data of its own event type, which the type says here.
    const handler = handlers[type] as ((data: unknown, context: unknown) => Sql) | undefined;
    return handler ? [handler(data, { ownerId, at: '2026-01-01T00:00:00Z' })] : [];
  });
}
