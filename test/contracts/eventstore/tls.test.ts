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

  it('says how it can be reached in its URL', () => {
    expect(store.url).toMatch(/^esdb:\/\/127\.0\.0\.1:\d+\?tls=true&/);
  });
});
