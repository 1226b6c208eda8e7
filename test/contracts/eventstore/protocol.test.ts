import {
  CancelledError,
  EventStoreDBClient,
  jsonEvent,
  persistentSubscriptionToStreamSettingsFromDefaults,
  streamNameFilter,
} from '@eventstore/db-client';
import { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { Empty, StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';
import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { append, collect, failureOf, freshStream, happened, Listener } from './conformance/support.js';
import { framed, rawCall } from './raw-call.js';
import { APPEND, appendTo, proposed, READ } from './raw-requests.js';

const GOSSIP = '/event_store.client.gossip.Gossip/Read';
const BATCH = '/event_store.client.streams.Streams/BatchAppend';

describe('the protocol of the embedded event store', () => {
  let store: EventStore;
  let client: EventStoreDBClient;
  beforeAll(async () => {
    store = await startEventStore({ memory: true });
    client = EventStoreDBClient.connectionString(store.url);
  });
  afterAll(async () => {
    await client.dispose();
    await store.stop();
  });

  it('is found by a client that discovers its cluster', async () => {
    const discovering = EventStoreDBClient.connectionString(`esdb+discover://127.0.0.1:${store.port}?tls=false`);
    const stream = freshStream();
    await append(discovering, stream, [1]);
    await discovering.dispose();
  });

  it.each([
    ['store.example:443', 'store.example', 443],
    ['[::1]:2113', '[::1]', 2113],
    ['store.example', 'store.example', 'its own'],
    ['store.example:http', '127.0.0.1', 'its own'],
  ])('tells a client that has reached it at %j where to come', async (authority, address, port) => {
    const { bytes } = await rawCall(store.port, GOSSIP, framed(Buffer.alloc(0)), { ':authority': authority });
    const [member] = ClusterInfo.deserializeBinary(bytes.subarray(5)).getMembersList();
    const endPoint = member?.getHttpEndPoint();
    expect([endPoint?.getAddress(), endPoint?.getPort()]).toEqual([address, port === 'its own' ? store.port : port]);
  });

  it('leads whenever a leader is required', async () => {
    const stream = freshStream();
    const requiresLeader = true;
    await append(client, stream, [1, 2], { requiresLeader });
    const events = await collect(client.readStream(stream, { requiresLeader }));
    expect(events).toHaveLength(2);
    await collect(client.readAll({ requiresLeader, maxCount: 1 }));
    const listener = new Listener(client.subscribeToStream(stream, { requiresLeader }));
    await listener.until((heard) => heard.events.length === 2);
    await listener.stop();
    await client.deleteStream(stream, { requiresLeader });
    await client.tombstoneStream(stream, { requiresLeader });
    const bytes = Buffer.concat([appendTo(freshStream()), proposed('happened', Buffer.alloc(1))]);
    expect(await rawCall(store.port, APPEND, bytes, { 'requires-leader': 'true' })).toMatchObject({ status: 0 });
  });

  it('answers what it does not serve with one sentence on what to use instead', async () => {
    const settings = persistentSubscriptionToStreamSettingsFromDefaults();
    await expect(client.createPersistentSubscriptionToStream('s', 'g', settings)).rejects.toThrow(
      /catch-up subscription/,
    );
    await expect(client.createProjection('p', 'fromAll()')).rejects.toThrow(/fold a subscription/);
    await expect(client.listAllPersistentSubscriptions()).rejects.toThrow(/catch-up subscriptions/);
    for (const service of [
      'users.Users/Create',
      'operations.Operations/Shutdown',
      'monitoring.Monitoring/Stats',
      'nothing.Nothing/Known',
    ]) {
      const { status, message } = await rawCall(store.port, `/event_store.client.${service}`, framed(Buffer.alloc(0)));
      expect([status, message.startsWith('The embedded event store')]).toEqual([12, true]);
    }
  });

  it.each([
    '$ce-order',
    '$et-happened',
    '$bc-id',
    '$category-order',
    '$by_category',
    '$by_correlation_id',
    '$stream_by_category',
    '$streams',
  ])('says that nothing fills %s', async (stream) => {
    await expect(failureOf(client.readStream(stream))).resolves.toMatchObject({
      message: expect.stringContaining('no system projections') as string,
    });
    const listener = new Listener(client.subscribeToStream(stream));
    await listener.until(({ error }) => error !== undefined);
    expect(listener.error?.message).toContain('with a filter');
  });

  it('gives ids as two numbers to clients that ask for them so', async () => {
    const stream = freshStream();
    const [event] = happened(1);
    if (!event) throw new Error('an event was made');
    await client.appendToStream(stream, event);
    const options = new ReadReq.Options()
      .setStream(
        new ReadReq.Options.StreamOptions()
          .setStreamIdentifier(new StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64')))
          .setStart(new Empty()),
      )
      .setCount('1')
      .setUuidOption(new ReadReq.Options.UUIDOption().setStructured(new Empty()));
    const request = Buffer.from(new ReadReq().setOptions(options).serializeBinary());
    const { bytes } = await rawCall(store.port, READ, framed(request));
    const uuid = ReadResp.deserializeBinary(bytes.subarray(5)).getEvent()?.getEvent()?.getId()?.getStructured();
    const halves = [uuid?.getMostSignificantBits(), uuid?.getLeastSignificantBits()];
    const hex = halves
      .map((half) =>
        BigInt.asUintN(64, BigInt(half ?? 0))
          .toString(16)
          .padStart(16, '0'),
      )
      .join('');
    expect(hex).toBe(event.id.replaceAll('-', ''));
  });

  it('refuses a pattern that could run for ever, and says why', async () => {
    const listener = new Listener(
      client.subscribeToAll({ filter: { filterOn: 'eventType', regex: '^(?=a)b', checkpointInterval: 1 } }),
    );
    await listener.until(({ error }) => error !== undefined);
    expect(listener.error?.message).toMatch(/look-around/);
  });

  it('refuses more prefixes than it would look at, and serves as many as that', async () => {
    const stream = freshStream();
    await append(client, stream, [1]);
    const prefixes = [...Array.from({ length: 999 }, (_, n) => `none-${n}-`), stream];
    const served = new Listener(client.subscribeToAll({ filter: streamNameFilter({ prefixes }) }));
    await served.until(({ events }) => events.length === 1);
    await served.stop();
    const refused = new Listener(
      client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['one-more-', ...prefixes] }) }),
    );
    await refused.until(({ error }) => error !== undefined);
    expect(refused.error?.message).toContain('A filter has at most 1000 prefixes.');
  });

  it('matches a pattern that makes others run for ever', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, jsonEvent({ type: `${'a'.repeat(5000)}!`, data: {} }));
    const listener = new Listener(
      client.subscribeToAll({ filter: { filterOn: 'eventType', regex: '^(a+)+$', checkpointInterval: 1 } }),
    );
    await listener.untilCaughtUp();
    expect(listener.events).toEqual([]);
    await listener.stop();
  });

  it.each([
    ['bytes that are no message', READ, framed(Buffer.from('ffffffff', 'hex')), 3],
    ['an empty request', READ, framed(Buffer.alloc(0)), 3],
    ['half a message', READ, Buffer.from([0, 0, 0, 0, 9, 1]), 13],
    ['a compressed message', READ, framed(Buffer.alloc(4), 1), 12],
    ['a message longer than any may be', READ, framed(Buffer.alloc(4), 0, 2 ** 31), 8],
    ['a chunk without a correlation id', BATCH, framed(Buffer.alloc(0)), 3],
  ])('ends a call with %s by a status, and serves on', async (_, path, bytes, status) => {
    expect((await rawCall(store.port, path, bytes)).status).toBe(status);
    await append(client, freshStream(), [1]);
  });

  it('stores nothing of an append that is refused while it arrives', async () => {
    const stream = freshStream();
    const good = proposed('happened', Buffer.alloc(1));
    const refused = Buffer.concat([appendTo(stream), good, framed(Buffer.from('12', 'hex'))]);
    for (let n = 0; n < 20; n += 1) expect((await rawCall(store.port, APPEND, [refused, good])).status).toBe(3);
    await append(client, stream, [1], { expectedRevision: 'no_stream' });
  });

  it('answers plain HTTP with a plain status', async () => {
    const { status, statusText } = await fetch(`http://127.0.0.1:${store.port}/streams/x`);
    expect([status, statusText]).toEqual([501, expect.stringContaining('no HTTP API')]);
  });

  it.each(['', '$$', '$$$$order', 'with\0nul', 'x'.repeat(2000)])('refuses the stream name %j', async (name) => {
    expect(await failureOf(append(client, name, [1]))).toBeInstanceOf(Error);
    expect(await failureOf(client.readStream(name))).toBeInstanceOf(Error);
  });

  it('refuses a type that no database could hold', async () => {
    const stream = freshStream();
    await expect(client.appendToStream(stream, jsonEvent({ type: 'a\0b', data: {} }))).rejects.toThrow();
    await append(client, stream, [1], { expectedRevision: 'no_stream' });
  });

  it('keeps nothing for a subscriber that does not read, and gives it everything once it does', async () => {
    const stream = freshStream();
    const subscription = client.subscribeToStream(stream);
    const listener = new Listener(subscription);
    await listener.untilCaughtUp();
    subscription.pause();
    const text = 'x'.repeat(900_000);
    // More than is kept in memory for those who follow closely.
    for (let n = 0; n < 40; n += 1)
      await client.appendToStream(stream, jsonEvent({ type: 'large', data: { n, text } }));
    subscription.resume();
    await listener.until(({ events }) => events.length === 40);
    expect(listener.numbers(stream)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    await listener.stop();
  });

  it('answers what is under way before it stops', async () => {
    const stopping = await startEventStore({ memory: true });
    const writer = EventStoreDBClient.connectionString(stopping.url);
    const stream = freshStream();
    await append(writer, stream, [0]);
    const [answer] = await Promise.all([append(writer, stream, [1]), whenSent().then(() => stopping.stop())]);
    expect(answer.nextExpectedRevision).toBe(1n);
    await writer.dispose();
  });

  it('ends open calls as cancelled when it stops', async () => {
    const stopping = await startEventStore({ memory: true });
    const subscriber = EventStoreDBClient.connectionString(stopping.url);
    const listener = new Listener(subscriber.subscribeToAll());
    await listener.untilCaughtUp();
    await stopping.stop();
    await listener.until(({ error }) => error !== undefined);
    expect(listener.error).toBeInstanceOf(CancelledError);
    await subscriber.dispose();
  });

  it('is not opened to other machines without TLS and credentials', async () => {
    await expect(startEventStore({ memory: true, host: '0.0.0.0' })).rejects.toThrow(/TLS and credentials/);
    await expect(startEventStore({ memory: true, credentials: [{ username: 'a', password: 'b' }] })).rejects.toThrow(
      /need TLS/,
    );
  });

  it('says when its port is taken', async () => {
    await expect(startEventStore({ memory: true, port: store.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

/** Lets a request leave this process and reach the server in it. */
async function whenSent(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
