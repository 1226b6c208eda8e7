import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';
import { freshStream, Listener } from './conformance/support.js';

const TEXT = 'x'.repeat(9000);
/** More than a server and a client that does not read take up between them. */
const EVENTS = 2500;
const numbers = Array.from({ length: EVENTS }, (_, n) => n);

describe('while the database of an event store is away', () => {
  const stream = freshStream();
  const links = freshStream('links');
  let database: FreshDatabase;
  let proxy: TcpProxy;
  let store: EventStore;
  let client: EventStoreDBClient;
  const said: string[] = [];

  beforeAll(async () => {
    database = await freshDatabase();
    const { hostname, port } = new URL(database.url);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const url = new URL(database.url);
    url.host = `127.0.0.1:${proxy.port}`;
    store = await startEventStore({ databaseUrl: url.href, log: (line) => said.push(line) });
    client = EventStoreDBClient.connectionString(store.url);
    for (let n = 0; n < EVENTS; n += 100) {
      const hundred = numbers.slice(n, n + 100);
      const events = hundred.map((each) => jsonEvent({ type: 'happened', data: { n: each, text: TEXT } }));
      await client.appendToStream(stream, events);
      const pointers = hundred.map((each) => binaryEvent({ type: '$>', data: Buffer.from(`${each}@${stream}`) }));
      await client.appendToStream(links, pointers);
    }
  }, 60_000);
  afterAll(async () => {
    await client.dispose();
    await store.stop();
    await proxy.close();
    await database.drop();
  });
  beforeEach(() => {
    said.length = 0;
  });

  it.each([
    ['a stream', () => client.subscribeToStream(stream)],
    ['what links point to', () => client.subscribeToStream(links, { resolveLinkTos: true })],
    ['all events', () => client.subscribeToAll()],
  ])('a subscription to %s waits in the middle of what is stored, then goes on', async (_, subscribe) => {
    const subscription = subscribe();
    const listener = new Listener(subscription);
    await listener.until(({ events }) => events.length > 0);
    subscription.pause();
    proxy.refuse();
    subscription.resume();
    await until(async () => said.includes('a subscription waits for the database') || listener.error);
    proxy.pass();
    await until(async () => listener.numbers(stream).length >= EVENTS || listener.error);
    expect(listener.error).toBeUndefined();
    expect(listener.numbers(stream)).toEqual(numbers);
    await listener.stop();
  });
});
