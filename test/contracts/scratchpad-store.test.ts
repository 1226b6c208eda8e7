import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { BackendUnavailable } from '../../src/application/faults/errors.js';
import type { PadRef } from '../../src/application/ports/pad-keys.js';
import type { LedgerAppend } from '../../src/application/ports/ledger-store.js';
import { StartupError } from '../../src/infrastructure/startup-error.js';
import { MemoryScratchpadStore } from '../../src/infrastructure/memory/scratchpad-store.js';
import {
  openScratchpadStore,
  type RedisScratchpadStore,
} from '../../src/infrastructure/redis/scratchpad-store/scratchpad-store.js';
import { eventually } from '../support/eventually.js';
import { ownRedis, type OwnRedis } from '../support/own-redis.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { at, describeScratchpadStore, entry, newPad, nothing } from './scratchpad-store-contract.js';

const url = process.env['TEST_REDIS_URL'] ?? '';
const keyPrefix = `test-${randomUUID()}:`;

let store: RedisScratchpadStore;
let redis: Redis;
beforeAll(async () => {
  store = openScratchpadStore(url, { keyPrefix });
  redis = new Redis(url);
  await store.assertDurable();
});
afterAll(async () => {
  const keys = await redis.keys(`${keyPrefix}*`);
  if (keys.length > 0) await redis.del(keys);
  redis.disconnect();
  await store.close();
});

describeScratchpadStore('memory', () => new MemoryScratchpadStore());
describeScratchpadStore('redis', () => store);

describe('a scratchpad in Redis', () => {
  const keysOf = async ({ ownerId, scratchpadId }: PadRef) =>
    (await redis.keys(`${keyPrefix}scratchpad:${ownerId}:${scratchpadId}:*`)).sort();

  it('is exactly two keys, and a third while a clear is unfinished', async () => {
    const pad = newPad();
    const name = `${keyPrefix}scratchpad:${pad.ownerId}:${pad.scratchpadId}`;
    await store.keys.create(pad, at);
    await store.keys.create(pad, at);
    await store.ledger.append(pad, entry());
    await store.content.stage(pad, 1, 'e1', 'staged');
    await expect(keysOf(pad)).resolves.toEqual([`${name}:content`, `${name}:entries`]);
    await store.ledger.clear(pad, 'c1');
    await expect(keysOf(pad)).resolves.toEqual([`${name}:cleared:c1`, `${name}:content`, `${name}:entries`]);
    await store.ledger.dropCleared(pad, 'c1');
    await expect(keysOf(pad)).resolves.toEqual([`${name}:content`, `${name}:entries`]);
    await store.keys.destroy(pad);
    await expect(keysOf(pad)).resolves.toEqual([]);
  });

  it('never expires', async () => {
    const pad = newPad();
    await store.keys.create(pad, at);
    await store.ledger.append(pad, entry());
    await store.ledger.clear(pad, 'c1');
    const lives = await Promise.all((await keysOf(pad)).map((key) => redis.pttl(key)));
    expect(lives).toEqual([-1, -1, -1]);
  });

  it('drops staged texts that can no longer be promoted', async () => {
    const pad = newPad();
    await store.keys.create(pad, at);
    await store.content.stage(pad, 1, 'rival', 'rival');
    await store.content.stage(pad, 1, 'e1', 'one');
    await store.content.promote(pad, 1, 'e1', at);
    const key = `${keyPrefix}scratchpad:${pad.ownerId}:${pad.scratchpadId}:content`;
    expect((await redis.hkeys(key)).sort()).toEqual(['at', 'body', 'revision']);
  });

  it('is found by a scan, whatever is left of it, and under this prefix only', async () => {
    const prefix = `scan-${randomUUID()}[*]:`;
    const scanned = openScratchpadStore(url, { keyPrefix: prefix });
    await scanned.assertDurable();
    const [whole, onlyEntries, onlyContent] = [newPad(), newPad(), newPad()];
    for (const pad of [whole, onlyEntries, onlyContent]) await scanned.keys.create(pad, at);
    await redis.del(`${prefix}scratchpad:${onlyEntries.ownerId}:${onlyEntries.scratchpadId}:content`);
    await redis.del(`${prefix}scratchpad:${onlyContent.ownerId}:${onlyContent.scratchpadId}:entries`);
    const found = new Set<string>();
    for await (const { ownerId, scratchpadId } of scanned.dirtyPads.scan()) found.add(`${ownerId}:${scratchpadId}`);
    for (const pad of [whole, onlyEntries, onlyContent]) await scanned.keys.destroy(pad);
    await scanned.close();
    expect([...found].sort()).toEqual(
      [whole, onlyEntries, onlyContent].map(({ ownerId, scratchpadId }) => `${ownerId}:${scratchpadId}`).sort(),
    );
  });
});

describe('a ledger that others read while it changes', () => {
  it('is never shown as a mixture of before and after a clear', async () => {
    const pad = newPad();
    await store.keys.create(pad, at);
    const old = Array.from({ length: 50 }, () => entry('old'.padEnd(60_000, '.')));
    for (const one of old) await store.ledger.append(pad, one);
    const reading = store.ledger.read(pad, 0, 100);
    await store.ledger.clear(pad, 'c1');
    for (let count = 0; count < 50; count += 1) await store.ledger.append(pad, entry('new'.padEnd(60_000, '.')));
    const page = await reading;
    const isOld = page?.entries.map(({ content }) => content.startsWith('old')) ?? [];
    expect(isOld).toEqual(Array(page?.generation === 0 ? 50 : isOld.length).fill(page?.generation === 0));
  });

  it('keeps nobody else waiting, however large its entries are', async () => {
    const [large, other] = [newPad(), newPad()];
    for (const pad of [large, other]) await store.keys.create(pad, at);
    for (let count = 0; count < 100; count += 1) await store.ledger.append(large, entry('x'.repeat(64_000)));
    const reads = Array.from({ length: 8 }, () => store.ledger.read(large, 0, 1_000));
    let ended = 0;
    for (const read of reads) void read.then(() => (ended += 1));
    await expect(store.ledger.append(other, entry())).resolves.toMatchObject({ index: 1 });
    expect(ended).toBe(0);
    for (const read of reads) await expect(read).resolves.toMatchObject({ length: 100 });
  });
});

describe('the scratchpad store behind a bad line', () => {
  let proxy: TcpProxy;
  let shaky: RedisScratchpadStore;
  let pad: PadRef;
  beforeEach(async () => {
    const { hostname, port, username, password } = new URL(url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const login = password === '' ? '' : `${username}:${password}@`;
    shaky = openScratchpadStore(`redis://${login}127.0.0.1:${proxy.port}/0`, { keyPrefix });
    await shaky.assertDurable();
    pad = newPad();
    await shaky.keys.create(pad, at);
  });
  afterEach(async () => {
    await shaky.close();
    await proxy.close();
  });

  const untilBack = () =>
    eventually(
      () =>
        shaky.ping().then(
          () => true,
          () => false,
        ),
      (isBack) => isBack,
    );

  it('never sends an append a second time when the reply is lost', async () => {
    proxy.loseNextReply();
    await expect(shaky.ledger.append(pad, entry())).rejects.toBeInstanceOf(BackendUnavailable);
    await untilBack();
    await expect(store.ledger.read(pad, 0, 0)).resolves.toMatchObject({ length: 1 });
  });

  it('clears once when the reply is lost and it is asked again', async () => {
    await shaky.ledger.append(pad, entry());
    proxy.loseNextReply();
    await expect(shaky.ledger.clear(pad, 'c1')).rejects.toBeInstanceOf(BackendUnavailable);
    await untilBack();
    await shaky.ledger.append(pad, entry('since'));
    await expect(shaky.ledger.clear(pad, 'c1')).resolves.toMatchObject({ count: 1 });
    await expect(shaky.ledger.read(pad, 0, 10)).resolves.toMatchObject({ length: 1 });
  });

  it('says so at once while Redis is away, and works again when it is back', async () => {
    proxy.refuse();
    await expect(shaky.ledger.append(pad, entry())).rejects.toBeInstanceOf(BackendUnavailable);
    await expect(shaky.ledger.read(pad, 0, 10)).rejects.toBeInstanceOf(BackendUnavailable);
    await expect(shaky.keys.create(newPad(), at)).rejects.toBeInstanceOf(BackendUnavailable);
    await expect(shaky.ping()).rejects.toBeInstanceOf(BackendUnavailable);
    proxy.pass();
    await untilBack();
    await expect(shaky.ledger.append(pad, entry())).resolves.toMatchObject({ index: 1 });
  });

  it('has every pad checked again over the next connection', async () => {
    const before = shaky.epoch.current();
    shaky.epoch.markVerified(pad, before);
    expect(shaky.epoch.isVerified(pad)).toBe(true);
    proxy.reset();
    await eventually(
      () => shaky.epoch.isVerified(pad),
      (isChecked) => !isChecked,
    );
    await untilBack();
    shaky.epoch.markVerified(pad, before);
    expect(shaky.epoch.isVerified(pad)).toBe(false);
  });

  it('gives up a line that fell silent, and works again', async () => {
    proxy.blackHole();
    const lost = await Promise.allSettled([shaky.ledger.append(pad, entry()), shaky.ledger.read(pad, 0, 10)]);
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    proxy.pass();
    await untilBack();
    expect((await shaky.ledger.read(pad, 0, 10))?.length).toBeLessThanOrEqual(1);
  });

  it('stores each of many entries at most once through resets', async () => {
    const results: PromiseSettledResult<LedgerAppend | undefined>[] = [];
    for (let round = 0; round < 5; round += 1) {
      const appends = Array.from({ length: 20 }, () => shaky.ledger.append(pad, entry()));
      if (round % 2 === 1) proxy.reset();
      results.push(...(await Promise.allSettled(appends)));
      await untilBack();
    }
    const stored = (await store.ledger.read(pad, 0, 1_000))?.entries ?? [];
    expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
    const acknowledged = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value?.index] : []));
    expect(stored.map(({ index }) => index)).toEqual(expect.arrayContaining(acknowledged));
  });

  it('keeps the text that it was writing out of its errors', async () => {
    proxy.refuse();
    const failure: unknown = await shaky.ledger.append(pad, entry('a secret plan')).catch((error: unknown) => error);
    expect(JSON.stringify(inspected(failure))).not.toContain('a secret plan');
  });
});

/** Everything that hangs on an error, own properties and cause. */
function inspected(failure: unknown): unknown {
  if (!(failure instanceof Error)) return failure;
  const own = Object.getOwnPropertyNames(failure).map((name) => [name, Reflect.get(failure, name) as unknown]);
  return own.map(([name, value]) => [name, value instanceof Error ? inspected(value) : value]);
}

describe('a Redis for scratchpads', () => {
  let server: OwnRedis;
  let admin: Redis;
  let own: RedisScratchpadStore;
  beforeAll(async () => {
    server = await ownRedis();
    admin = new Redis(server.url, { disconnectTimeout: 100 });
    admin.on('error', () => undefined); // It is killed on purpose.
    await admin.config('SET', 'aof-load-truncated', 'no');
    own = openScratchpadStore(server.url);
    await own.assertDurable();
  });
  afterAll(async () => {
    admin.disconnect();
    await own.close();
    await server.remove();
  });

  it('is taken without a word when it keeps everything', async () => {
    await expect(own.assertDurable()).resolves.toEqual([]);
  });

  it('is refused when it evicts', async () => {
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(own.assertDurable()).rejects.toBeInstanceOf(StartupError);
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
  });

  it('is taken with a warning when it writes to disk later', async () => {
    await admin.config('SET', 'appendfsync', 'everysec');
    await expect(own.assertDurable()).resolves.toEqual([expect.stringContaining('appendfsync everysec')]);
    await admin.config('SET', 'appendfsync', 'always');
  });

  it('is taken with a warning when it would pass over a torn write', async () => {
    await admin.config('SET', 'aof-load-truncated', 'yes');
    await expect(own.assertDurable()).resolves.toEqual([expect.stringContaining('aof-load-truncated no')]);
    await admin.config('SET', 'aof-load-truncated', 'no');
  });

  it('acknowledges nothing while it is read-only', async () => {
    const pad = newPad();
    await own.keys.create(pad, at);
    await own.content.stage(pad, 1, 'e1', 'text');
    await admin.replicaof('127.0.0.1', 1);
    const writes = [
      () => own.keys.create(newPad(), at),
      () => own.ledger.append(pad, entry()),
      () => own.content.stage(pad, 1, 'e1', 'text'),
      () => own.content.promote(pad, 1, 'e1', at),
      () => own.ledger.clear(pad, 'c1'),
      () => own.ledger.dropCleared(pad, 'c1'),
      () => own.keys.destroy(pad),
    ];
    const outcomes: unknown[] = [];
    for (const write of writes) outcomes.push(await write().catch((failure: unknown) => failure));
    await admin.replicaof('NO', 'ONE');
    expect(outcomes).toEqual(writes.map(() => expect.any(BackendUnavailable) as unknown));
    await expect(own.ledger.read(pad, 0, 10)).resolves.toEqual(nothing);
  });

  it('has what it acknowledged when it is killed, and shows that it was restarted', async () => {
    const pad = newPad();
    await own.keys.create(pad, at);
    const runId = await own.epoch.serverRunId();
    const appends = Array.from({ length: 300 }, () => own.ledger.append(pad, entry()));
    await appends[100];
    await server.kill();
    const outcomes = await Promise.allSettled(appends);
    await server.start();
    const page = await eventually(
      () => own.ledger.read(pad, 0, 1_000).catch(() => undefined),
      (found) => found !== undefined,
    );
    const acknowledged = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value?.index] : []));
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(page?.entries.map(({ index }) => index)).toEqual(expect.arrayContaining(acknowledged));
    await expect(own.epoch.serverRunId()).resolves.not.toBe(runId);
  });

  it('clears everything or nothing when it is killed meanwhile', async () => {
    const pad = newPad();
    await own.keys.create(pad, at);
    for (let count = 0; count < 50; count += 1) await own.ledger.append(pad, entry());
    const clearing = own.ledger.clear(pad, 'c1').catch(() => undefined);
    await server.kill();
    await clearing;
    await server.start();
    const cleared = await eventually(
      () => own.ledger.clear(pad, 'c1').catch(() => undefined),
      (answer) => answer !== undefined,
    );
    expect(cleared?.count).toBe(50);
    await expect(own.ledger.read(pad, 0, 10)).resolves.toEqual({ ...nothing, generation: 1 });
  });
});
