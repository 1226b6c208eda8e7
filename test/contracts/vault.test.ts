import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from '../../projections/kit/sql.js';
import { Secret } from '../../src/application/kernel/secret.js';
import { Unsealable, type CredentialVault } from '../../src/application/ports/credential-vault.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { MemoryVault } from '../../src/infrastructure/memory/vault.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { migrate } from '../../src/infrastructure/postgres/migrate.js';
import { makePersonalDataKeys } from '../../src/infrastructure/postgres/personal-data-keys.js';
import { assertKeysThere } from '../../src/infrastructure/vault/assert-keys.js';
import { seal } from '../../src/infrastructure/vault/aes-gcm.js';
import { openValue, rewrap } from '../../src/infrastructure/vault/envelope.js';
import { makeKekRing, type KekRing } from '../../src/infrastructure/vault/kek-ring.js';
import { makeLocalKms } from '../../src/infrastructure/vault/local-kms.js';
import { makePostgresVault } from '../../src/infrastructure/vault/postgres-vault.js';
import { ensureRootKey } from '../../src/infrastructure/vault/root-key.js';
import { rotateKek } from '../../src/infrastructure/vault/rotate.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { vaultContract } from './vault-contract.js';

const quiet = makeLogger({ level: 'silent' });
const kek = (number: number) => ({ number, key: randomBytes(32) });
const [first, second] = [kek(1), kek(2)];

let fresh: FreshDatabase;
let database: Database;
const vaultWith = (keks: KekRing): CredentialVault => makePostgresVault(database.system, makeLocalKms(keks));

beforeAll(async () => {
  fresh = await freshDatabase();
  await migrate({ url: fresh.url, kek: first.key, projections: [], log: quiet });
  database = openDatabase({ url: fresh.url, kek: first.key, log: quiet });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

let elapsed = 0;
const inMemory = new MemoryVault(() => elapsed);
vaultContract('in memory', () => ({ vault: inMemory, later: async (ms) => void (elapsed += ms) }));
vaultContract('in Postgres', () => ({ vault: vaultWith(makeKekRing(first)), later: (ms) => pause(ms) }));

const rootQuery = async (text: string, values: readonly unknown[]) => {
  const [outcome] = await database.system.run({ text, values });
  return { rows: outcome?.rows ?? [] };
};

const stored = async (
  vault: CredentialVault,
  value: string,
  ownerId = `user_${randomUUID()}`,
  provider = 'anthropic',
) => {
  const version = { id: randomUUID(), ownerId, provider, agentId: randomUUID() };
  await vault.stage(version, new Secret(value));
  await vault.activate(version, 10n);
  return version;
};

describe('a sealed row', () => {
  const columns = ['nonce', 'ciphertext', 'tag', 'wrapped_key', 'kms', 'kek', 'form'].join(', ');
  const swap = (a: string, b: string) =>
    database.system.run(sql`
      update palimpsest.sealed_credentials as x
      set nonce = y.nonce, ciphertext = y.ciphertext, tag = y.tag, wrapped_key = y.wrapped_key
      from palimpsest.sealed_credentials as y
      where (x.id = ${a} and y.id = ${b}) or (x.id = ${b} and y.id = ${a})`);

  it('does not open in the place of another: of another owner, another provider, or an earlier version', async () => {
    const vault = vaultWith(makeKekRing(first));
    const mine = await stored(vault, 'mine');
    const theirs = await stored(vault, 'theirs');
    const elsewhere = await stored(vault, 'elsewhere', mine.ownerId, 'openai');
    for (const other of [theirs, elsewhere]) {
      await swap(mine.id, other.id);
      await expect(vault.open(mine.ownerId, mine.provider)).rejects.toThrow(Unsealable);
      await expect(vault.open(other.ownerId, other.provider)).rejects.toThrow(Unsealable);
      await swap(mine.id, other.id);
    }
    expect((await vault.open(mine.ownerId, mine.provider))?.reveal()).toBe('mine');
  });

  it('does not open when its owner, its provider or any byte of it was changed', async () => {
    const vault = vaultWith(makeKekRing(first));
    const changes = [
      sql`owner_id = 'user_thief'`,
      sql`provider = 'openai'`,
      sql`ciphertext = set_byte(ciphertext, 0, 255 - get_byte(ciphertext, 0))`,
      sql`tag = set_byte(tag, 3, 255 - get_byte(tag, 3))`,
      sql`nonce = set_byte(nonce, 3, 255 - get_byte(nonce, 3))`,
      sql`wrapped_key = set_byte(wrapped_key, 30, 255 - get_byte(wrapped_key, 30))`,
      sql`agent_id = 'another'`,
      sql`credential_id = 'another'`,
      sql`form = 1`,
      sql`form = 3`,
      sql`kek = 7`,
    ];
    for (const change of changes) {
      const { id, ownerId } = await stored(vault, 'mine');
      await database.system.run(sql`update palimpsest.sealed_credentials set ${change} where id = ${id}`);
      const isMoved = (what: string) => change.text.includes(what);
      const holder = isMoved('owner_id') ? 'user_thief' : ownerId;
      const provider = isMoved('provider') ? 'openai' : 'anthropic';
      await expect(vault.open(holder, provider)).rejects.toThrow(Unsealable);
      await database.system.run(sql`delete from palimpsest.sealed_credentials where id = ${id}`);
    }
  });

  it('of the first form opens still, and in its own place only; a rotation keeps its form', async () => {
    const keks = makeKekRing(first, [second]);
    const vault = vaultWith(keks);
    const { id, ownerId, provider } = await stored(vault, 'of another form');
    const context = ['provider credential', ownerId, provider, id].map(encodeURIComponent).join('|');
    const dataKey = randomBytes(32);
    const { nonce, ciphertext, tag } = seal(dataKey, Buffer.from('of the first form'), context);
    const { bytes } = await makeLocalKms(keks).wrap(dataKey, context);
    const write = (row: string) =>
      database.system.run(sql`
        update palimpsest.sealed_credentials
        set form = 1, nonce = ${nonce}, ciphertext = ${ciphertext}, tag = ${tag}, wrapped_key = ${bytes}
        where id = ${row}`);
    await write(id);
    expect((await vault.open(ownerId, provider))?.reveal()).toBe('of the first form');
    const other = await stored(vault, 'theirs');
    await write(other.id);
    await expect(vault.open(other.ownerId, provider)).rejects.toThrow(Unsealable);

    const row = { id, ownerId, provider, agentId: 'any', credentialId: 'any' };
    const rotated = makeLocalKms(makeKekRing(second, [first]));
    const wrapped = await rewrap(row, { form: 1, wrapped: { kms: 'local', kek: 1, bytes } }, rotated);
    const opened = await openValue(
      row,
      { form: 1, nonce, ciphertext, tag, wrapped },
      makeLocalKms(makeKekRing(second)),
    );
    expect(opened.reveal()).toBe('of the first form');
  });

  it('never has the same nonce, data key or ciphertext twice, and shows nothing of its value', async () => {
    const vault = vaultWith(makeKekRing(first));
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push((await stored(vault, 'the same canary value')).id);
    const [outcome] = await database.system.run({
      text: `select encode(nonce, 'hex') as nonce, encode(wrapped_key, 'hex') as key, encode(ciphertext, 'hex') as text,
        (select string_agg(c::text, ' ') from (select ${columns}) as c) as row
        from palimpsest.sealed_credentials where id = any($1)`,
      values: [ids],
    });
    const rows = outcome?.rows ?? [];
    for (const column of ['nonce', 'key', 'text']) expect(new Set(rows.map((row) => row[column])).size).toBe(20);
    const canary = Buffer.from('the same canary value');
    for (const form of [canary.toString('hex'), canary.toString('base64'), canary.toString()]) {
      expect(JSON.stringify(rows)).not.toContain(form);
    }
  });
});

describe('enrollments that arrive together', () => {
  it('are each sealed in their own place, and each answered how it stands', async () => {
    const vault = vaultWith(makeKekRing(first));
    const ownerId = `user_${randomUUID()}`;
    const versions = Array.from({ length: 40 }, (_, n) => ({
      id: randomUUID(),
      ownerId,
      provider: `provider-${n % 10}`,
      agentId: randomUUID(),
      n,
    }));
    await Promise.all(versions.map((version) => vault.stage(version, new Secret(`value ${version.n}`))));
    const reported = await Promise.all(versions.map((version) => vault.activate(version, BigInt(100 + version.n))));
    for (const { n } of versions) {
      const previousVersionId = versions[n - 10]?.id;
      expect(reported[n]?.previousVersionId).toBe(previousVersionId);
    }
    for (let n = 0; n < 10; n += 1) {
      expect((await vault.open(ownerId, `provider-${n}`))?.reveal()).toBe(`value ${30 + n}`);
    }
    const [kept] = await database.system.run(sql`
      select status, count(*)::int as count from palimpsest.credential_versions
      where owner_id = ${ownerId} group by status order by status`);
    expect(kept?.rows).toEqual([
      { status: 'active', count: 10 },
      { status: 'retired', count: 30 },
    ]);
  });
});

describe('a rotation of the KEK', () => {
  it('under load loses nothing, and leaves nothing that needs the earlier KEK', async () => {
    await database.system.run(sql`delete from palimpsest.sealed_credentials`);
    await ensureRootKey(rootQuery, makeLocalKms(makeKekRing(first)));
    const before = vaultWith(makeKekRing(first, [second]));
    const rotating = makeKekRing(second, [first]);
    const during = vaultWith(rotating);
    const versions: { readonly ownerId: string; readonly value: string }[] = [];
    for (let n = 0; n < 60; n += 1) versions.push({ ...(await stored(before, `value ${n}`)), value: `value ${n}` });
    const keys = makePersonalDataKeys(database.system, makeKekRing(first));
    const sealed = (await keys.sealingKey('ada')).seal('words', 'here');

    let done = false;
    const load = async () => {
      for (let n = 0; !done; n += 1) {
        versions.push({ ...(await stored(during, `later ${n}`)), value: `later ${n}` });
        const version = versions[n % versions.length];
        if (version) expect((await before.open(version.ownerId, 'anthropic'))?.reveal()).toBe(version.value);
      }
    };
    const loading = Promise.all([load(), load(), load()]);
    const rotated = await rotateKek(database.system, rotating, makeLocalKms(rotating));
    done = true;
    await loading;

    expect(rotated.kek).toBe(2);
    expect(rotated.credentials).toBeGreaterThanOrEqual(60);
    const after = vaultWith(makeKekRing(second));
    for (const { ownerId, value } of versions) expect((await after.open(ownerId, 'anthropic'))?.reveal()).toBe(value);
    const opened = await makePersonalDataKeys(database.system, makeKekRing(second)).openingKeys(new Set(['ada']));
    expect(opened.get('ada')?.open(sealed, 'here')).toBe('words');
    await expect(
      assertKeysThere(database.system, makeKekRing(second), makeLocalKms(makeKekRing(second))),
    ).resolves.toBeUndefined();
  });

  it('keeps the root key as it was, under the new KEK', async () => {
    const ring = makeKekRing(second, [first]);
    const root = await ensureRootKey(rootQuery, makeLocalKms(ring));
    expect((await ensureRootKey(rootQuery, makeLocalKms(makeKekRing(second)))).equals(root)).toBe(true);
    await expect(ensureRootKey(rootQuery, makeLocalKms(makeKekRing(first)))).rejects.toThrow('key encryption key 2');
  });

  it('lets nothing be sealed or opened with the earlier KEK any more', async () => {
    const late = vaultWith(makeKekRing(first, [second]));
    await expect(stored(late, 'too late')).rejects.toThrow('key encryption key local 1');
    const current = vaultWith(makeKekRing(second, [first]));
    const { id, ownerId } = await stored(current, 'rolled back');
    await database.system.run(sql`update palimpsest.sealed_credentials set kek = 1 where id = ${id}`);
    await expect(current.open(ownerId, 'anthropic')).rejects.toThrow(Unsealable);
    await database.system.run(sql`delete from palimpsest.sealed_credentials where id = ${id}`);
  });
});

describe('a start', () => {
  const start = (keks: KekRing) => assertKeysThere(database.system, keks, makeLocalKms(keks));

  it('is refused without a KEK that something stored needs', async () => {
    await stored(vaultWith(makeKekRing(second)), 'needs 2');
    await database.system.run(sql`delete from palimpsest.subject_keys`);
    await expect(start(makeKekRing(kek(3)))).rejects.toThrow('need the key encryption key local 2');
  });

  it('is refused with a current KEK that was rotated away', async () => {
    await expect(start(makeKekRing(first, [second]))).rejects.toThrow('must be number 2 or later');
  });
});
