import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackendUnavailable } from '../../src/application/faults/errors.js';
import { makeKekRing } from '../../src/infrastructure/vault/kek-ring.js';
import { KeyUnavailable, makeKmsChain, type Kms } from '../../src/infrastructure/vault/kms.js';
import { makeLocalKms } from '../../src/infrastructure/vault/local-kms.js';
import { makeTransitKms } from '../../src/infrastructure/vault/transit-kms.js';
import { startTransitServer, type TransitServer } from '../support/transit-server.js';

let server: TransitServer;
let folder: string;
beforeAll(async () => {
  server = await startTransitServer();
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-kms-'));
  writeFileSync(join(folder, 'token'), `${server.token}\n`);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const transit = (more: Partial<Parameters<typeof makeTransitKms>[0]> = {}) =>
  makeTransitKms({ url: server.url, key: 'palimpsest', tokenFile: join(folder, 'token'), ...more });

const [first, second] = [
  { number: 1, key: randomBytes(32) },
  { number: 2, key: randomBytes(32) },
];

/** Each kind of KMS, with the same KMS after its KEK was rotated. */
const kinds: readonly (readonly [string, () => { readonly kms: Kms; readonly rotated: () => Kms }])[] = [
  [
    'of the local file',
    () => ({ kms: makeLocalKms(makeKekRing(first)), rotated: () => makeLocalKms(makeKekRing(second, [first])) }),
  ],
  [
    'behind the transit API',
    () => ({
      kms: transit(),
      rotated: () => {
        server.rotate();
        return transit();
      },
    }),
  ],
];

describe.each(kinds)('the KMS %s', (_, make) => {
  const dataKey = randomBytes(32);

  it('unwraps what it wrapped', async () => {
    const { kms } = make();
    const wrapped = await kms.wrap(dataKey, 'here');
    expect(wrapped.kms).toBe(kms.name);
    expect(wrapped.kek).toBe(await kms.current());
    expect((await kms.unwrap(wrapped, 'here')).equals(dataKey)).toBe(true);
  });

  it('wraps the same key differently each time, and shows nothing of it', async () => {
    const { kms } = make();
    const [one, other] = [await kms.wrap(dataKey, 'here'), await kms.wrap(dataKey, 'here')];
    expect(one.bytes.equals(other.bytes)).toBe(false);
    expect(one.bytes.includes(dataKey)).toBe(false);
  });

  it('does not unwrap in another place', async () => {
    const { kms } = make();
    const wrapped = await kms.wrap(dataKey, 'here');
    await expect(kms.unwrap(wrapped, 'there')).rejects.toThrow(KeyUnavailable);
  });

  it('does not unwrap what was changed or marked as of another KEK', async () => {
    const { kms } = make();
    const wrapped = await kms.wrap(dataKey, 'here');
    const bytes = Buffer.from(wrapped.bytes);
    bytes.writeUInt8(bytes.readUInt8(20) === 65 ? 66 : 65, 20);
    await expect(kms.unwrap({ ...wrapped, bytes }, 'here')).rejects.toThrow(KeyUnavailable);
    await expect(kms.unwrap({ ...wrapped, kek: wrapped.kek + 7 }, 'here')).rejects.toThrow(KeyUnavailable);
    await expect(kms.unwrap({ ...wrapped, kms: 'other' }, 'here')).rejects.toThrow(KeyUnavailable);
  });

  it('still unwraps after a rotation, and wraps with the new KEK', async () => {
    const { kms, rotated } = make();
    const before = await kms.wrap(dataKey, 'here');
    const after = rotated();
    expect(await after.current()).toBe(before.kek + 1);
    expect(await after.has(before)).toBe(true);
    expect((await after.unwrap(before, 'here')).equals(dataKey)).toBe(true);
    expect((await after.wrap(dataKey, 'here')).kek).toBe(before.kek + 1);
  });

  it('says which KEKs it has', async () => {
    const { kms } = make();
    const wrapped = await kms.wrap(dataKey, 'here');
    expect(await kms.has(wrapped)).toBe(true);
    expect(await kms.has({ ...wrapped, kek: 999 })).toBe(false);
    expect(await kms.has({ ...wrapped, kms: 'other' })).toBe(false);
  });
});

describe('the KMS behind the transit API', () => {
  it('does not unwrap with a version below the least', async () => {
    const wrapped = await transit().wrap(randomBytes(32), 'here');
    server.rotate();
    server.setLeast(wrapped.kek + 1);
    await expect(transit().unwrap(wrapped, 'here')).rejects.toThrow(KeyUnavailable);
    expect(await transit().has(wrapped)).toBe(false);
    server.setLeast(1);
  });

  it('that cannot be reached, or refuses the token, is unavailable', async () => {
    const wrong = join(folder, 'wrong');
    writeFileSync(wrong, 'another token');
    const away = [
      transit({ url: 'http://127.0.0.1:1/v1/transit' }),
      transit({ tokenFile: wrong }),
      transit({ tokenFile: join(folder, 'missing') }),
      transit({ url: `${server.url}/elsewhere`, answerWithinMs: 1 }),
    ];
    for (const kms of away) await expect(kms.wrap(randomBytes(32), 'here')).rejects.toThrow(BackendUnavailable);
  });
});

describe('a chain of KMSs', () => {
  it('wraps with the first and unwraps with whichever wrapped', async () => {
    const local = makeLocalKms(makeKekRing(first));
    const chain = makeKmsChain(transit(), local);
    const dataKey = randomBytes(32);
    const before = await local.wrap(dataKey, 'here');
    const after = await chain.wrap(dataKey, 'here');
    expect([before.kms, after.kms]).toEqual(['local', 'transit']);
    for (const wrapped of [before, after]) {
      expect((await chain.unwrap(wrapped, 'here')).equals(dataKey)).toBe(true);
      expect(await chain.has(wrapped)).toBe(true);
    }
    await expect(chain.unwrap({ ...before, kms: 'gone' }, 'here')).rejects.toThrow(KeyUnavailable);
  });
});
