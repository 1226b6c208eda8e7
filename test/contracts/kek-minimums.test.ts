import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { sql } from '../../projections/kit/sql.js';
import { Secret } from '../../src/application/kernel/secret.js';
import { Unsealable } from '../../src/application/ports/credential-vault.js';
import { openDatabase, type Database, type Statements } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makePersonalDataKeys } from '../../src/infrastructure/postgres/personal-data-keys.js';
import { assertKeysThere } from '../../src/infrastructure/vault/assert-keys.js';
import { makeKekRing, type KekRing } from '../../src/infrastructure/vault/kek-ring.js';
import { KeyUnavailable, makeKmsChain } from '../../src/infrastructure/vault/kms.js';
import { makeLocalKms } from '../../src/infrastructure/vault/local-kms.js';
import { makePostgresVault } from '../../src/infrastructure/vault/postgres-vault.js';
import { ensureRootKey } from '../../src/infrastructure/vault/root-key.js';
import { rotateKek } from '../../src/infrastructure/vault/rotate.js';
import { makeTransitKms } from '../../src/infrastructure/vault/transit-kms.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { quiet } from '../support/quiet.js';
import { startTransitServer, type TransitServer } from '../support/transit-server.js';
import { until } from '../support/until.js';

const [first, second] = [
  { number: 1, key: randomBytes(32) },
  { number: 2, key: randomBytes(32) },
];
/** As processes have them before the new KEK is the current one, at its rotation, and after it. */
const [before, rotating, after] = [makeKekRing(first, [second]), makeKekRing(second, [first]), makeKekRing(second)];

let fresh: FreshDatabase;
let database: Database;
beforeEach(async () => {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek: first.key, projections: [], log: quiet });
  database = openDatabase({ url: fresh.url, kek: first.key, log: quiet });
  await ensureRootKey(async (text, values) => {
    const [outcome] = await database.system.run({ text, values });
    return { rows: outcome?.rows ?? [] };
  }, makeLocalKms(before));
});
afterEach(async () => {
  await slow.end();
  await database.close();
  await fresh.drop();
});

const rotate = () => rotateKek(database.system, rotating, makeLocalKms(rotating));
const start = (keks: KekRing) => assertKeysThere(database.system, keks, makeLocalKms(keks));
const versionOf = (ownerId: string) => ({ id: randomUUID(), ownerId, provider: 'anthropic', agentId: randomUUID() });

let slow: Client;
beforeEach(async () => {
  slow = new Client({ connectionString: fresh.url });
  await slow.connect();
});

/** A process that does something else between an insert and its commit. */
const pausing = (meanwhile: () => Promise<unknown>): Statements => ({
  async run(...statements) {
    const outcomes = [];
    await slow.query('begin');
    for (const { text, values } of statements) {
      const { rows, rowCount } = await slow.query<Record<string, unknown>>(text, [...values]);
      outcomes.push({ rows, count: rowCount ?? 0 });
    }
    if (statements.some(({ text }) => text.includes('insert into'))) await meanwhile();
    await slow.query('commit');
    return outcomes;
  },
});

/** Somebody waits for a lock: nothing else in this database does. */
const waits = () =>
  until(async () => {
    const [outcome] = await database.system.run(sql`
      select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`);
    return outcome?.count === 0 ? undefined : 'waits';
  });

describe('a rotation of the KEK that meets a process which has not committed', () => {
  let rotation: ReturnType<typeof rotate>;
  /** Begins the rotation, and goes on once it waits, or is over without having waited. */
  const meanwhile = () => Promise.race([(rotation = rotate()), waits()]);

  it('waits for the credential that it sealed with the earlier KEK, and wraps it anew', async () => {
    const version = versionOf('user_a');
    await makePostgresVault(pausing(meanwhile), makeLocalKms(before)).stage(version, new Secret('sk-kept'));
    expect(await rotation).toMatchObject({ credentials: 1 });
    const vault = makePostgresVault(database.system, makeLocalKms(after));
    await vault.activate(version, 10n);
    expect((await vault.open('user_a', 'anthropic'))?.reveal()).toBe('sk-kept');
    await expect(start(after)).resolves.toBeUndefined();
  });

  it('waits for the owner’s data key that it wrapped with the earlier KEK, and wraps it anew', async () => {
    const sealed = (await makePersonalDataKeys(pausing(meanwhile), before).sealingKey('user_a')).seal('words', 'here');
    expect(await rotation).toMatchObject({ personalDataKeys: 1 });
    const keys = await makePersonalDataKeys(database.system, after).openingKeys(new Set(['user_a']));
    expect(keys.get('user_a')?.open(sealed, 'here')).toBe('words');
    await expect(start(after)).resolves.toBeUndefined();
  });
});

describe('a move to a KMS', () => {
  let server: TransitServer;
  let folder: string;
  beforeEach(async () => {
    server = await startTransitServer();
    folder = mkdtempSync(join(tmpdir(), 'palimpsest-move-'));
    writeFileSync(join(folder, 'token'), server.token);
  });
  afterEach(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const own = makeKekRing(first);
  const moved = () =>
    makeKmsChain(
      makeTransitKms({ url: server.url, key: 'palimpsest', tokenFile: join(folder, 'token') }),
      makeLocalKms(own),
    );
  const wrapping = sql`wrapped_key, kms, kek`;

  it('leaves the installation’s own KEK nothing to open or to seal, not even in a row that was restored', async () => {
    const [local, chain] = [
      makePostgresVault(database.system, makeLocalKms(own)),
      makePostgresVault(database.system, moved()),
    ];
    const version = versionOf('user_a');
    await local.stage(version, new Secret('sk-kept'));
    await local.activate(version, 10n);
    await database.system.run(sql`create table backup as select id, ${wrapping} from palimpsest.sealed_credentials`);
    expect(await rotateKek(database.system, own, moved())).toMatchObject({ credentials: 1 });
    expect((await chain.open('user_a', 'anthropic'))?.reveal()).toBe('sk-kept');

    await expect(local.stage(versionOf('user_b'), new Secret('sk-late'))).rejects.toThrow(KeyUnavailable);
    await database.system.run(sql`
      update palimpsest.sealed_credentials set (${wrapping}) = (select ${wrapping} from backup)`);
    await expect(chain.open('user_a', 'anthropic')).rejects.toThrow(Unsealable);
  });

  it('leaves owners’ data keys with the installation’s own KEK', async () => {
    await rotateKek(database.system, own, moved());
    const sealed = (await makePersonalDataKeys(database.system, own).sealingKey('user_a')).seal('words', 'here');
    const keys = await makePersonalDataKeys(database.system, own).openingKeys(new Set(['user_a']));
    expect(keys.get('user_a')?.open(sealed, 'here')).toBe('words');
    await expect(assertKeysThere(database.system, own, moved())).resolves.toBeUndefined();
  });
});

describe('a process that still has the earlier KEK as its current one, once it was rotated', () => {
  it('makes no data key any more, and uses those of others', async () => {
    const sealed = (await makePersonalDataKeys(database.system, before).sealingKey('user_a')).seal('words', 'here');
    await rotate();
    const late = makePersonalDataKeys(database.system, before);
    await expect(late.sealingKey('user_b')).rejects.toThrow('rotated away');
    expect((await late.sealingKey('user_a')).open(sealed, 'here')).toBe('words');
    await expect(start(after)).resolves.toBeUndefined();
  });

  it('is not started again', async () => {
    await rotate();
    await expect(start(before)).rejects.toThrow('must be number 2 or later');
  });
});
