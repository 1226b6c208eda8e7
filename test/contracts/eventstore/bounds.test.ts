import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { binaryEvent, EventStoreDBClient, MaxAppendSizeExceededError } from '@eventstore/db-client';
import type { Wish } from '../../../src/infrastructure/embedded/eventstore/engine/decide.js';
import type { Outcome } from '../../../src/infrastructure/embedded/eventstore/engine/expectation.js';
import {
  EVENT_OVERHEAD,
  MAX_APPEND_BYTES,
  MAX_ARRIVING_BYTES,
  MAX_BATCH_BYTES,
  MAX_PENDING_BYTES,
  MIN_EVENT_BYTES,
} from '../../../src/infrastructure/embedded/eventstore/engine/limits.js';
import { newId } from '../../../src/infrastructure/embedded/eventstore/engine/new-id.js';
import { until } from '../../support/until.js';
import { contentsOf, failureOf, freshStream } from './conformance/support.js';
import { APPEND, appendTo, proposed, READ, subscriptionTo } from './raw-requests.js';
import { startRawServer, type RawServer } from './raw-server.js';

describe('the memory of an event store', () => {
  let server: RawServer;
  let session: ClientHttp2Session;
  let client: EventStoreDBClient;
  beforeEach(async () => {
    server = await startRawServer();
    session = connect(`http://127.0.0.1:${server.port}`);
    client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${server.port}?tls=false`);
  });
  afterEach(async () => {
    await client.dispose();
    session.destroy();
    await server.stop();
  });

  const call = (path: string): ClientHttp2Stream => {
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    return session.request(headers).on('error', () => undefined);
  };
  /** An append of one large event, past the protocol. */
  const write = (stream: string): Promise<Outcome> => {
    const data = Buffer.alloc(900_000);
    const event = { id: newId(), type: 'large', json: false, data, metadata: Buffer.alloc(0) };
    const wish: Wish = { kind: 'append', stream, expected: 'any', events: [event] };
    return new Promise((resolve) => server.engine.submit(wish, undefined, resolve));
  };

  it('holds for subscribers that do not read no more than one commit each', async () => {
    const stream = freshStream();
    const subscribers = Array.from({ length: 8 }, () => call(READ));
    for (const subscriber of subscribers) subscriber.end(subscriptionTo(stream));
    await until(async () => server.streams.length === 8 || undefined);
    const queued = (): number[] => server.streams.map(({ writableLength }) => writableLength);
    for (let n = 0; n < 40; n += 1) {
      await write(stream);
      expect(Math.max(0, ...queued())).toBeLessThanOrEqual(MAX_BATCH_BYTES + MAX_APPEND_BYTES);
    }
    // They were sent what there was until they took no more.
    await until(async () => Math.min(...queued()) > 0 || undefined);
  });

  it('takes no more of classic appends while too much is on its way to disk', async () => {
    const stream = freshStream();
    server.holdCommits();
    const written: Promise<Outcome>[] = [];
    while (!server.engine.pending.full) written.push(write(freshStream()));
    const held = call(APPEND);
    let answered = false;
    held.on('data', () => (answered = true));
    held.write(appendTo(stream));
    held.end(proposed('happened', Buffer.alloc(1)));
    await until(async () => server.streams[0]?.isPaused() || undefined);
    expect(answered).toBe(false);

    server.releaseCommits();
    await Promise.all(written);
    await until(async () => answered || undefined);
    expect(await contentsOf(client, stream)).toHaveLength(1);
  });

  it('is not filled by events with nothing in them', async () => {
    const one = proposed('', Buffer.alloc(0));
    const most = MAX_APPEND_BYTES / MIN_EVENT_BYTES;
    for (const [count, answer] of [
      [most, undefined],
      [most + 1, 'maximum-append-size-exceeded'],
    ] as const) {
      const append = call(APPEND);
      append.end(Buffer.concat([appendTo(freshStream()), ...Array.from({ length: count }, () => one)]));
      const [headers] = (await once(append, 'response')) as [IncomingHttpHeaders];
      expect(headers['exception']).toBe(answer);
    }
    const many = Array.from({ length: most + 1 }, () => binaryEvent({ type: '', data: new Uint8Array(0) }));
    expect(await failureOf(client.appendToStream(freshStream(), many))).toBeInstanceOf(MaxAppendSizeExceededError);
  });

  it('counts what an event takes up, not only what is in it', () => {
    const { pending } = server.engine;
    const event = { id: newId(), type: '', json: false, data: Buffer.alloc(0), metadata: Buffer.alloc(0) };
    const events = Array.from({ length: MAX_PENDING_BYTES / EVENT_OVERHEAD }, () => event);
    pending.add({ kind: 'append', stream: 'any', expected: 'any', events }, Infinity, () => undefined);
    expect(pending.full).toBe(true);
    pending.answerAll({ kind: 'unknown' });
    expect(pending.full).toBe(false);
  });

  it('is not filled by appends that are never finished', async () => {
    const large = proposed('', Buffer.alloc(1_000_000));
    const statuses: unknown[] = [];
    const start = (): ClientHttp2Stream => {
      const append = call(APPEND);
      append.on('response', (headers) => statuses.push(headers['grpc-status'] ?? 'served'));
      append.write(Buffer.concat([appendTo(freshStream()), large]));
      return append;
    };
    const unfinished = Array.from({ length: MAX_ARRIVING_BYTES / 1_000_000 + 1 }, start);
    await until(async () => statuses.length > 0 || undefined);
    expect(new Set(statuses)).toEqual(new Set(['8']));

    // What was given up makes room again.
    for (const append of unfinished) append.close();
    await until(async () => server.streams.every(({ closed }) => closed) || undefined);
    start().end();
    await until(async () => statuses.at(-1) === 'served' || undefined);
  });
});
