import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { BackendUnavailable } from '../../src/application/faults/errors.js';
import type { Logger } from '../../src/application/ports/telemetry.js';
import type { PadRef } from '../../src/application/ports/pad-keys.js';
import { openPurges, type Purges } from '../../src/infrastructure/bullmq/purges.js';
import {
  openScratchpadStore,
  type RedisScratchpadStore,
} from '../../src/infrastructure/redis/scratchpad-store/scratchpad-store.js';
import { eventually } from '../support/eventually.js';
import { ownRedis, type OwnRedis } from '../support/own-redis.js';
import { at, entry, newPad } from './scratchpad-store-contract.js';

const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the purge of a deleted scratchpad', () => {
  const prefix = `test-${randomUUID()}`;
  let server: OwnRedis;
  let store: RedisScratchpadStore;
  let redis: Redis;
  let purges: Purges;
  let recorded: string[];
  let recording: () => Promise<void>;

  beforeAll(async () => {
    server = await ownRedis();
  });
  afterAll(() => server.remove());

  const options = () => ({
    redisUrl: server.url,
    padKeys: store.keys,
    recordPurged: async ({ scratchpadId }: PadRef) => {
      await recording();
      recorded.push(scratchpadId);
    },
    log: quiet,
    secondPassAfterMs: 100,
    prefix,
  });

  beforeEach(async () => {
    store = openScratchpadStore(server.url);
    await store.assertDurable();
    redis = new Redis(server.url, { disconnectTimeout: 100 });
    redis.on('error', () => undefined); // It is killed on purpose.
    recorded = [];
    recording = () => Promise.resolve();
    purges = openPurges(options());
  });
  afterEach(async () => {
    await purges.close();
    await store.close();
    await redis.flushall();
    redis.disconnect();
  });

  const made = async (): Promise<PadRef> => {
    const pad = newPad();
    await store.keys.create(pad, at);
    await store.ledger.append(pad, entry());
    return pad;
  };
  const jobsLeft = async () => (await redis.keys(`${prefix}:purges:purge-*`)).length;
  const untilRecorded = (pads: readonly PadRef[]) =>
    eventually(
      () => recorded,
      (done) => pads.every(({ scratchpadId }) => done.includes(scratchpadId)),
      60_000,
    );

  it('removes every key, tells so once, and leaves no job behind', async () => {
    const pad = await made();
    purges.startWorker();
    await purges.queue.purge(pad);
    await untilRecorded([pad]);
    await expect(store.keys.exists(pad)).resolves.toBe(false);
    await eventually(jobsLeft, (jobs) => jobs === 0);
    expect(recorded).toEqual([pad.scratchpadId]);
  });

  it('asked for twice is asked for once', async () => {
    const pad = await made();
    await purges.queue.purge(pad);
    await purges.queue.purge(pad);
    await expect(jobsLeft()).resolves.toBe(2);
    purges.startWorker();
    await untilRecorded([pad]);
    await eventually(jobsLeft, (jobs) => jobs === 0);
    expect(recorded).toEqual([pad.scratchpadId]);
  });

  it('can be asked for again when it is done', async () => {
    const pad = await made();
    purges.startWorker();
    await purges.queue.purge(pad);
    await untilRecorded([pad]);
    await eventually(jobsLeft, (jobs) => jobs === 0);
    await store.keys.create(pad, at);
    await purges.queue.purge(pad);
    await eventually(
      () => recorded.length,
      (times) => times === 2,
    );
    await expect(store.keys.exists(pad)).resolves.toBe(false);
  });

  it('finds in its second pass what came after the first', async () => {
    const pad = await made();
    let late = true;
    const overtaken: typeof store.keys = {
      create: (...args) => store.keys.create(...args),
      destroy: (of) => store.keys.destroy(of),
      state: (of) => store.keys.state(of),
      // A write that was in flight lands right after the first pass has looked.
      async exists(of) {
        const isThere = await store.keys.exists(of);
        if (late) await store.keys.create(of, at);
        late = false;
        return isThere;
      },
    };
    await purges.close();
    purges = openPurges({ ...options(), padKeys: overtaken });
    purges.startWorker();
    await purges.queue.purge(pad);
    await untilRecorded([pad]);
    await expect(store.keys.exists(pad)).resolves.toBe(false);
  });

  it('goes on until it could be recorded', async () => {
    const pad = await made();
    let failures = 2;
    recording = () => ((failures -= 1) >= 0 ? Promise.reject(new Error('not now')) : Promise.resolve());
    purges.startWorker();
    await purges.queue.purge(pad);
    await untilRecorded([pad]);
    expect(recorded).toEqual([pad.scratchpadId]);
  });

  it('carries ids only', async () => {
    const pad = await made();
    await purges.queue.purge(pad);
    const data = await redis.hget(`${prefix}:purges:purge-${pad.scratchpadId}-1`, 'data');
    expect(JSON.parse(data ?? '')).toEqual({ ...pad, pass: 1 });
  });

  it('ignores a job whose data is missing', async () => {
    await redis.lpush(`${prefix}:purges:wait`, 'purge-nobody-1');
    await redis.hset(`${prefix}:purges:purge-empty-1`, {
      name: 'purge',
      data: '{}',
      opts: '{}',
      timestamp: '1',
      priority: '0',
    });
    await redis.lpush(`${prefix}:purges:wait`, 'purge-empty-1');
    const pad = await made();
    purges.startWorker();
    await purges.queue.purge(pad);
    await untilRecorded([pad]);
    expect(recorded).toEqual([pad.scratchpadId]);
  });

  it('is refused while Redis is away, and drained when it is back', async () => {
    const before = [await made(), await made()];
    purges.startWorker();
    await purges.queue.purge(await made());
    await server.kill();
    await expect(purges.queue.purge(newPad())).rejects.toBeInstanceOf(BackendUnavailable);
    await server.start();
    const after = await eventually(
      () => Promise.all([made(), made()]).catch(() => []),
      (pads) => pads.length > 0,
    );
    const pads = [...before, ...after];
    for (const pad of pads) {
      await eventually(
        () =>
          purges.queue.purge(pad).then(
            () => true,
            () => false,
          ),
        (isAsked) => isAsked,
      );
    }
    await untilRecorded(pads);
    const left = await Promise.all(pads.map((pad) => store.keys.exists(pad)));
    expect(left).toEqual(pads.map(() => false));
  });

  it('survives a kill of Redis between asking and working', async () => {
    const pad = await made();
    await purges.queue.purge(pad);
    await server.kill();
    await server.start();
    purges.startWorker();
    await untilRecorded([pad]);
    await expect(
      eventually(
        () => store.keys.exists(pad).catch(() => undefined),
        (answer) => answer !== undefined,
      ),
    ).resolves.toBe(false);
  });
});
