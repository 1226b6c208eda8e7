import { EventStoreDBClient, START } from '@eventstore/db-client';
import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { append, collect, contentsOf, failureOf, freshStream, happened, Listener } from './conformance/support.js';
import { storeOnFreshDatabase } from './database.js';

const stores = [
  [
    'in memory',
    async () => ({ store: await startEventStore({ memory: true }), end: async (store: EventStore) => store.stop() }),
  ],
  [
    'on Postgres',
    async () => {
      const running = await storeOnFreshDatabase();
      return { store: running.store, end: () => running.stop() };
    },
  ],
] as const;

describe('the schedule of scavenges', () => {
  it('removes what is truncated, again and again, without being asked', async () => {
    let removed = 0;
    let reported: () => void = () => undefined;
    const log = (line: string, fields: object = {}): void => {
      if (line === 'event store scavenged' && 'events' in fields) removed += Number(fields.events);
      reported();
    };
    const store = await startEventStore({ memory: true, scavengeEvery: 10, log });
    const client = EventStoreDBClient.connectionString(store.url);
    for (const expected of [2, 4]) {
      const stream = freshStream();
      await append(client, stream, [1, 2, 3]);
      await client.setStreamMetadata(stream, { maxCount: 1 });
      while (removed < expected) await new Promise<void>((resolve) => (reported = resolve));
      expect(removed).toBe(expected);
    }
    await client.dispose();
    await store.stop();
  });
});

describe.each(stores)('a scavenge %s', (_, start) => {
  let running: Awaited<ReturnType<typeof start>>;
  let client: EventStoreDBClient;
  beforeAll(async () => {
    running = await start();
    client = EventStoreDBClient.connectionString(running.store.url);
  });
  afterAll(async () => {
    await client.dispose();
    await running.end(running.store);
  });

  const remaining = async (stream: string): Promise<bigint[]> =>
    (await collect(client.readAll({ fromPosition: START }))).flatMap(({ event }) =>
      event?.streamId === stream ? [event.revision] : [],
    );

  it('removes what is truncated, and nothing else', async () => {
    const [short, whole] = [freshStream(), freshStream()];
    await append(client, short, [1, 2, 3, 4, 5]);
    await append(client, whole, [1, 2, 3]);
    await client.setStreamMetadata(short, { maxCount: 2 });
    expect((await running.store.scavenge()).events).toBeGreaterThanOrEqual(3);
    expect(await remaining(short)).toEqual([3n, 4n]);
    expect(await remaining(whole)).toEqual([0n, 1n, 2n]);
    expect(await contentsOf(client, short)).toEqual([
      [3n, 4],
      [4n, 5],
    ]);
  });

  it('removes all of a deleted stream, whose numbers go on all the same', async () => {
    const stream = freshStream();
    await append(client, stream, [1, 2, 3]);
    await client.deleteStream(stream);
    await running.store.scavenge();
    expect(await remaining(stream)).toEqual([]);
    expect(await failureOf(client.readStream(stream))).toMatchObject({ type: 'stream-not-found' });
    const { nextExpectedRevision } = await append(client, stream, [4], { expectedRevision: 'no_stream' });
    expect(nextExpectedRevision).toBe(3n);
    expect(await contentsOf(client, stream)).toEqual([[3n, 4]]);
  });

  it('leaves the tombstone of a tombstoned stream', async () => {
    const stream = freshStream();
    await append(client, stream, [1, 2]);
    await client.tombstoneStream(stream);
    await running.store.scavenge();
    expect(await remaining(stream)).toEqual([2n ** 63n - 1n]);
    expect(await failureOf(append(client, stream, [3]))).toMatchObject({ type: 'stream-deleted' });
  });

  it('removes all but the last of the metadata', async () => {
    const stream = freshStream();
    await append(client, stream, [1]);
    for (let maxCount = 1; maxCount <= 4; maxCount += 1) await client.setStreamMetadata(stream, { maxCount });
    await running.store.scavenge();
    expect(await remaining(`$$${stream}`)).toEqual([3n]);
    expect((await client.getStreamMetadata(stream)).metadata).toEqual({ maxCount: 4 });
  });

  it('does not disturb who writes and who listens meanwhile', async () => {
    const stream = freshStream();
    await append(client, stream, [0]);
    await client.setStreamMetadata(stream, { maxCount: 5 });
    const listener = new Listener(client.subscribeToStream(stream));
    await listener.untilCaughtUp();
    const writing = (async () => {
      for (let n = 1; n <= 60; n += 1) {
        await client.appendToStream(stream, happened(n), { expectedRevision: BigInt(n - 1) });
      }
    })();
    while (listener.events.length < 60) {
      await running.store.scavenge();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    await listener.until(({ events }) => events.length === 61);
    expect(listener.numbers(stream)).toEqual(Array.from({ length: 61 }, (_, n) => n));
    expect((await contentsOf(client, stream)).map(([, n]) => n)).toEqual([56, 57, 58, 59, 60]);
    await listener.stop();
  });

  it('does not let positions fall back when the newest events go', async () => {
    const stream = freshStream();
    const { position } = await append(client, stream, [1]);
    await client.tombstoneStream(stream);
    await running.store.scavenge();
    const later = await append(client, freshStream(), [1]);
    expect(later.position?.commit).toBeGreaterThan(position?.commit ?? 0n);
  });
});
