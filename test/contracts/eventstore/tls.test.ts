import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { AccessDeniedError, EventStoreDBClient } from '@eventstore/db-client';
import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { selfSigned, type Certificate } from './certificate.js';
import { append, contentsOf, failureOf, freshStream, Listener } from './conformance/support.js';

describe('an event store with TLS and credentials', () => {
  let certificate: Certificate;
  let store: EventStore;
  const clients: EventStoreDBClient[] = [];
  const connect = (userInfo: string): EventStoreDBClient => {
    const address = store.url.slice('esdb://'.length).split('?')[0] ?? '';
    const client = EventStoreDBClient.connectionString(
      `esdb://${userInfo}${address}?tls=true&tlsCAFile=${encodeURIComponent(certificate.certFile)}`,
    );
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    certificate = selfSigned();
    store = await startEventStore({
      memory: true,
      tls: certificate,
      credentials: [
        { username: 'admin', password: 'correct horse' },
        { username: 'reader', password: 'battery' },
      ],
    });
  });
  afterAll(async () => {
    for (const client of clients) await client.dispose();
    await store.stop();
    certificate.remove();
  });

  it('serves whoever knows them', async () => {
    const stream = freshStream();
    const client = connect('admin:correct%20horse@');
    await append(client, stream, [1]);
    expect(await contentsOf(connect('reader:battery@'), stream)).toEqual([[0n, 1]]);
  });

  it.each(['', 'admin:wrong@', 'nobody:battery@'])('denies access to %j', async (userInfo) => {
    const client = connect(userInfo);
    expect(await failureOf(client.readStream(freshStream()))).toBeInstanceOf(AccessDeniedError);
    const listener = new Listener(client.subscribeToAll());
    await listener.until(({ error }) => error !== undefined);
    expect(listener.error).toBeInstanceOf(AccessDeniedError);
    expect(await failureOf(append(client, freshStream(), [1]))).toBeInstanceOf(AccessDeniedError);
  });

  it.each<[string, (client: EventStoreDBClient) => Promise<unknown>]>([
    ['listAllPersistentSubscriptions', (client) => client.listAllPersistentSubscriptions()],
    ['listPersistentSubscriptionsToStream', (client) => client.listPersistentSubscriptionsToStream('s')],
    ['getPersistentSubscriptionToStreamInfo', (client) => client.getPersistentSubscriptionToStreamInfo('s', 'g')],
    ['replayParkedMessagesToStream', (client) => client.replayParkedMessagesToStream('s', 'g')],
    ['restartPersistentSubscriptionSubsystem', (client) => client.restartPersistentSubscriptionSubsystem()],
  ])('says what to use instead of %s, for which the client leaves gRPC', async (_, call) => {
    await expect(call(connect('reader:battery@'))).rejects.toThrow(/catch-up subscriptions instead/);
  });

  it.each([[['http/1.1']], [undefined]])('answers plain HTTP with a plain status, agreed on as %j', async (agreed) => {
    const answer = new Promise((resolve, reject) => {
      const options = { port: store.port, ca: readFileSync(certificate.certFile), ALPNProtocols: agreed, agent: false };
      request({ ...options, host: '127.0.0.1', method: 'POST' }, (response) => resolve(response.statusCode))
        .on('error', reject)
        .end('x'.repeat(100_000));
    });
    expect(await answer).toBe(501);
  });

  it('says how it can be reached in its URL', () => {
    expect(store.url).toMatch(/^esdb:\/\/127\.0\.0\.1:\d+\?tls=true&/);
  });

  describe('that listens on every address', () => {
    let open: EventStore;
    beforeAll(async () => {
      const credentials = [{ username: 'admin', password: 'pw' }];
      open = await startEventStore({ memory: true, host: '0.0.0.0', tls: certificate, credentials });
    });
    afterAll(() => open.stop());

    it.each(['127.0.0.1', 'localhost'])('is found by a client that discovers its cluster at %s', async (host) => {
      const client = EventStoreDBClient.connectionString(
        `esdb+discover://admin:pw@${host}:${open.port}?tls=true&tlsCAFile=${encodeURIComponent(certificate.certFile)}`,
      );
      clients.push(client);
      const stream = freshStream();
      await append(client, stream, [1]);
      expect(await contentsOf(client, stream)).toEqual([[0n, 1]]);
    });

    it('names one at which it can be reached from here', () => {
      expect(open.url).toMatch(/^esdb:\/\/127\.0\.0\.1:\d+\?tls=true&/);
    });
  });
});
