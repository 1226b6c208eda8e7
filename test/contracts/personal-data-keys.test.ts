import { Client } from 'pg';
import { sql } from '../../projections/kit/sql.js';
import { OwnerErased } from '../../src/application/faults/errors.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { assertKekOpens, makePersonalDataKeys } from '../../src/infrastructure/postgres/personal-data-keys.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';

const kek = Buffer.alloc(32, 7);
const text = 'Ünïcode 🔑 title';

let fresh: FreshDatabase;
let database: Database;
let elapsed = 0;
const process = () => makePersonalDataKeys(database.system, kek, () => elapsed);

beforeAll(async () => {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek, projections: [], log: quiet });
  database = openDatabase({ url: fresh.url, kek, log: quiet });
});

afterAll(async () => {
  await database.close();
  await fresh.drop();
});

describe('an owner’s data key', () => {
  it('opens in another process what it sealed in one', async () => {
    const sealed = (await process().sealingKey('ann')).seal(text, 'here');
    const keys = await process().openingKeys(new Set(['ann']));
    expect(keys.get('ann')?.open(sealed, 'here')).toBe(text);
  });

  it('opens nothing under another context', async () => {
    const key = await process().sealingKey('ann');
    expect(() => key.open(key.seal(text, 'here'), 'there')).toThrow();
  });

  it('opens nothing of another owner', async () => {
    const [ann, bob] = await Promise.all(['ann', 'bob'].map((owner) => process().sealingKey(owner)));
    expect(() => bob?.open(String(ann?.seal(text, 'here')), 'here')).toThrow();
  });

  it('seals the same text differently each time, and never shows it', async () => {
    const key = await process().sealingKey('ann');
    const sealed = [key.seal(text, 'here'), key.seal(text, 'here')];
    expect(new Set(sealed).size).toBe(2);
    for (const one of sealed) expect(one).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
  });

  it('is made once when many processes need it first at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: 12 }, () => process().sealingKey('crowd')));
    const sealed = String(keys[0]?.seal(text, 'here'));
    for (const key of keys) expect(key.open(sealed, 'here')).toBe(text);
  });

  it('is not there to open with before it was made', async () => {
    await expect(process().openingKeys(new Set(['nobody']))).resolves.toEqual(new Map());
  });

  it('is found by a process that looked for it before it was made', async () => {
    const early = process();
    await early.openingKeys(new Set(['late']));
    await process().sealingKey('late');
    expect((await early.openingKeys(new Set(['late']))).has('late')).toBe(true);
  });

  it('does not open for another owner when the rows are swapped', async () => {
    await Promise.all(['swap1', 'swap2'].map((owner) => process().sealingKey(owner)));
    await database.system.run(sql`
      update palimpsest.subject_keys k set wrapped = other.wrapped from palimpsest.subject_keys other
      where (k.owner_id, other.owner_id) in (('swap1', 'swap2'), ('swap2', 'swap1'))`);
    const keys = await process().openingKeys(new Set(['ann', 'swap1']));
    expect(() => keys.get('swap1')?.open('v1.AAAA', 'here')).toThrow('does not unwrap');
    expect(() => keys.get('swap1')?.seal(text, 'here')).toThrow('does not unwrap');
    expect(keys.get('ann')?.seal(text, 'here')).toMatch(/^v1/);
    await database.system.run(sql`delete from palimpsest.subject_keys where owner_id like 'swap%'`);
  });
});

describe('a destroyed data key', () => {
  it('is gone: nothing opens, nothing more is sealed', async () => {
    const keys = process();
    await keys.sealingKey('erased');
    await keys.destroy('erased');
    await expect(keys.openingKeys(new Set(['erased']))).resolves.toEqual(new Map());
    await expect(keys.sealingKey('erased')).rejects.toBeInstanceOf(OwnerErased);
  });

  it('is gone in every other process once its trust is over', async () => {
    const other = process();
    await other.sealingKey('everywhere');
    await process().destroy('everywhere');
    elapsed += 4_000;
    await expect(other.openingKeys(new Set(['everywhere']))).resolves.toEqual(new Map());
    await expect(other.sealingKey('everywhere')).rejects.toBeInstanceOf(OwnerErased);
  });

  it('leaves a tombstone without its bytes', async () => {
    const keys = process();
    await keys.sealingKey('tombstone');
    await keys.destroy('tombstone');
    const [outcome] = await database.system.run(
      sql`select wrapped, destroyed_at is not null as destroyed from palimpsest.subject_keys where owner_id = 'tombstone'`,
    );
    expect(outcome?.rows).toEqual([{ wrapped: null, destroyed: true }]);
  });

  it('may be destroyed twice, and before it was ever made', async () => {
    const keys = process();
    await keys.destroy('never');
    await keys.destroy('never');
    await expect(keys.sealingKey('never')).rejects.toBeInstanceOf(OwnerErased);
  });

  it('leaves the keys of others alone', async () => {
    const sealed = (await process().sealingKey('ann')).seal(text, 'here');
    await process().destroy('someone');
    expect((await process().openingKeys(new Set(['ann']))).get('ann')?.open(sealed, 'here')).toBe(text);
  });
});

describe('the KEK', () => {
  it('is accepted when it opens what is stored', async () => {
    await process().sealingKey('ann');
    await expect(assertKekOpens(database.system, kek)).resolves.toBeUndefined();
  });

  it('stops the start when it is another one', async () => {
    await process().sealingKey('ann');
    await expect(assertKekOpens(database.system, Buffer.alloc(32, 8))).rejects.toThrow('PALIMPSEST_KEK');
  });

  it('is nowhere in the database, and neither is a data key', async () => {
    const client = new Client({ connectionString: fresh.url });
    await client.connect();
    const { rows } = await client.query<{ row: string }>('select k::text as row from palimpsest.subject_keys k');
    await client.end();
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain(kek.toString('hex'));
  });
});
