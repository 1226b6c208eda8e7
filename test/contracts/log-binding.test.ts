import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { projections } from '../../projections/index.js';
import type { LogBinding } from '../../src/application/ports/log-binding.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { makeLogBinding } from '../../src/infrastructure/postgres/log-binding.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { openLogBinding } from '../../src/infrastructure/redis/log-binding.js';
import { sql } from '../../projections/kit/sql.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';
import { redisOfThisWorker } from '../support/stack.js';

const rootKey = Buffer.alloc(32, 1);
let fresh: FreshDatabase;
let database: Database;
let redis: Redis;
let inRedis: ReturnType<typeof openLogBinding>;

beforeAll(async () => {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek: rootKey, projections, log: quiet });
  database = openDatabase({ url: fresh.url, kek: rootKey, log: quiet });
  redis = new Redis(redisOfThisWorker());
  await redis.flushdb();
  inRedis = openLogBinding(redisOfThisWorker());
});

afterAll(async () => {
  await inRedis.close();
  redis.disconnect();
  await database.close();
  await fresh.drop();
});

describe.each(['postgres', 'redis'] as const)('the log that %s belongs to', (backend) => {
  const binding = (): LogBinding => (backend === 'redis' ? inRedis : makeLogBinding(database.system));
  const [ours, others] = [randomUUID(), randomUUID()];

  it('is not known at first', async () => {
    await expect(binding().read()).resolves.toEqual({ logId: undefined, position: -1n });
  });

  it('is noted once, with the highest position seen', async () => {
    await binding().note(ours, 9n);
    await binding().note(ours, 1_796_322_184_932_000n);
    await binding().note(ours, 10n);
    await expect(binding().read()).resolves.toEqual({ logId: ours, position: 1_796_322_184_932_000n });
  });

  it('is not changed by a process that follows another one', async () => {
    await binding().note(others, 1_896_322_184_932_000n);
    await expect(binding().read()).resolves.toEqual({ logId: ours, position: 1_796_322_184_932_000n });
  });

  it('is changed, also back to a lower position, when another is adopted', async () => {
    await binding().adopt(others, 7n);
    await expect(binding().read()).resolves.toEqual({ logId: others, position: 7n });
  });
});

describe('Postgres', () => {
  it('has seen the log as far as its read models have followed it', async () => {
    await database.system.run(sql`update palimpsest.projections set position = 500`);
    await expect(makeLogBinding(database.system).read()).resolves.toMatchObject({ position: 500n });
  });

  it('builds its read models again for a log that is adopted', async () => {
    await makeLogBinding(database.system).adopt(randomUUID(), 3n);
    const [outcome] = await database.system.run(sql`select distinct form, position from palimpsest.projections`);
    expect(outcome?.rows).toEqual([{ form: '', position: '-1' }]);
  });
});
