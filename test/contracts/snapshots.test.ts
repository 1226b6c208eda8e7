import { sql } from '../../projections/kit/sql.js';
import type { Snapshot } from '../../src/application/ports/snapshots.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { startKeyUsage } from '../../src/infrastructure/postgres/key-usage.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { makeSnapshots } from '../../src/infrastructure/postgres/snapshots.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';

const kek = Buffer.alloc(32, 3);
const at = (revision: number, ownerId = 'ann'): Snapshot => ({
  revision,
  version: 1,
  state: { status: 'open', title: 'x', list: [1, null] },
  ownerId,
  keys: [{ key: 'k', operation: 'thread.update', digest: 'd', actorId: ownerId, from: 1, count: 1 }],
});

let fresh: FreshDatabase;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek, projections: [], log: quiet });
  database = openDatabase({ url: fresh.url, kek, log: quiet });
});

afterAll(async () => {
  await database.close();
  await fresh.drop();
});

describe('a snapshot', () => {
  it('is loaded as it was saved', async () => {
    const snapshots = makeSnapshots(database.system);
    await snapshots.save('thread-1', at(200));
    await expect(snapshots.load('thread-1')).resolves.toEqual(at(200));
  });

  it('is absent for a stream that has none', async () => {
    await expect(makeSnapshots(database.system).load('thread-none')).resolves.toBeUndefined();
  });

  it('is not replaced by an earlier one', async () => {
    const snapshots = makeSnapshots(database.system);
    await snapshots.save('thread-2', at(400));
    await snapshots.save('thread-2', at(200));
    await expect(snapshots.load('thread-2')).resolves.toMatchObject({ revision: 400 });
  });

  it('is replaced by one of another version, whatever its revision', async () => {
    const snapshots = makeSnapshots(database.system);
    await snapshots.save('thread-3', at(400));
    await snapshots.save('thread-3', { ...at(200), version: 2 });
    await expect(snapshots.load('thread-3')).resolves.toMatchObject({ revision: 200, version: 2 });
  });
});

describe('the use of a key', () => {
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  const clock = { now: () => new Date(time) };
  const usage = sql`select key_id as "keyId", last_used_at as "lastUsedAt" from key_usage order by key_id`;

  it('is written by the time the process ends, for its owner to see', async () => {
    const uses = startKeyUsage(database.system, clock, quiet);
    uses.touch('key_a', 'ann');
    uses.touch('key_b', 'bob');
    await uses.close();
    await expect(makeReadDbs(database).for('ann').rows(usage)).resolves.toEqual([
      { keyId: 'key_a', lastUsedAt: '2026-01-01T00:00:00.000Z' },
    ]);
  });

  it('is noted once a minute', async () => {
    const uses = startKeyUsage(database.system, clock, quiet);
    uses.touch('key_c', 'cleo');
    time += 59_000;
    uses.touch('key_c', 'cleo');
    await uses.close();
    await expect(makeReadDbs(database).for('cleo').rows(usage)).resolves.toEqual([
      { keyId: 'key_c', lastUsedAt: '2026-01-01T00:00:00.000Z' },
    ]);
  });

  it('does not go back when a slower process writes later', async () => {
    const uses = startKeyUsage(database.system, clock, quiet);
    uses.touch('key_d', 'dan');
    await uses.close();
    time -= 30_000;
    const slower = startKeyUsage(database.system, clock, quiet);
    slower.touch('key_d', 'dan');
    await slower.close();
    await expect(makeReadDbs(database).for('dan').rows(usage)).resolves.toEqual([
      { keyId: 'key_d', lastUsedAt: '2026-01-01T00:00:59.000Z' },
    ]);
  });
});
