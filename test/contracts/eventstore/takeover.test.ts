import { EventStoreDBClient } from '@eventstore/db-client';
import { Client } from 'pg';
import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { append, contentsOf, failureOf, freshStream, happened, Listener } from './conformance/support.js';

describe('event stores on one database', () => {
  let database: FreshDatabase;
  const stores: EventStore[] = [];
  const clients: EventStoreDBClient[] = [];
  const start = async (said: string[] = []): Promise<EventStore> => {
    const store = await startEventStore({ databaseUrl: database.url, log: (line) => said.push(line) });
    stores.push(store);
    return store;
  };
  const connect = (store: EventStore): EventStoreDBClient => {
    const client = EventStoreDBClient.connectionString(store.url);
    clients.push(client);
    return client;
  };
  const sql = async (text: string, values: unknown[] = []): Promise<{ count: string }[]> => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<{ count: string }>(text, values)).rows;
    } finally {
      await client.end();
    }
  };

  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
    for (const store of stores.splice(0)) await store.stop();
    await database.drop();
  });

  it('keep everything when one ends and the next begins', async () => {
    const stream = freshStream();
    const events = happened(1, 2);
    const first = await start();
    const written = await connect(first).appendToStream(stream, events);
    await first.stop();
    const client = connect(await start());
    expect(await contentsOf(client, stream)).toEqual([
      [0n, 1],
      [1n, 2],
    ]);
    // Also without a revision: recent ids are read back.
    expect(await client.appendToStream(stream, events)).toEqual(written);
    expect(await contentsOf(client, stream)).toHaveLength(2);
  });

  it('write one at a time: the second stands by until the first has ended', async () => {
    const said: string[] = [];
    const first = await start();
    const stream = freshStream();
    await append(connect(first), stream, [1]);
    let second: EventStore | undefined;
    const taking = start(said).then((store) => (second = store));
    await until(() => said.some((line) => line.includes('standing by')));
    expect(second).toBeUndefined();
    await append(connect(first), stream, [2]);
    await first.stop();
    const client = connect(await taking);
    await append(client, stream, [3], { expectedRevision: 1n });
    expect(await contentsOf(client, stream)).toEqual([
      [0n, 1],
      [1n, 2],
      [2n, 3],
    ]);
  });

  it('cannot write any more once a later one has begun', async () => {
    const store = await start();
    const client = connect(store);
    const stream = freshStream();
    await append(client, stream, [1]);
    await sql('update eventstore.writer set epoch = epoch + 1');
    // Its next commit is refused whole; it then begins an epoch of its own.
    expect(await failureOf(append(client, stream, [2]))).toMatchObject({ type: 'deadline-exceeded' });
    await append(client, stream, [3], { expectedRevision: 0n });
    expect(await contentsOf(client, stream)).toEqual([
      [0n, 1],
      [1n, 3],
    ]);
  });

  it('go on by themselves when the database cuts their connections', async () => {
    const said: string[] = [];
    const client = connect(await start(said));
    const stream = freshStream();
    await append(client, stream, [1]);
    const listener = new Listener(client.subscribeToStream(stream));
    await listener.untilCaughtUp();
    await sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await until(() => said.includes('event store is writing again'));
    await append(client, stream, [2], { expectedRevision: 0n });
    await listener.until(({ events }) => events.length === 2);
    expect(listener.error).toBeUndefined();
    await listener.stop();
  });

  it('answer an append that the database does not finish in time with a timeout', async () => {
    const client = connect(await start());
    const stream = freshStream();
    await append(client, stream, [1]);
    const blocker = new Client({ connectionString: database.url });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('lock table eventstore.events in exclusive mode');
    const failure = await failureOf(append(client, stream, [2], { deadline: 200 }));
    expect(failure).toMatchObject({ type: 'deadline-exceeded' });
    await blocker.query('rollback');
    await blocker.end();
    // The outcome was unknown: it turns out to be stored, and a repeated append would say so.
    await append(client, stream, [3], { expectedRevision: 1n });
    expect(await contentsOf(client, stream)).toEqual([
      [0n, 1],
      [1n, 2],
      [2n, 3],
    ]);
  });

  it('refuse a place that is taken, whatever they believe', async () => {
    const client = connect(await start());
    const stream = freshStream();
    await append(client, stream, [1]);
    await expect(
      sql(
        `insert into eventstore.events select position + 1, stream, revision, id, type, json, created, data, metadata
         from eventstore.events where stream = $1`,
        [stream],
      ),
    ).rejects.toMatchObject({ code: '23505' });
  });
});

/** Looks again and again until the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
