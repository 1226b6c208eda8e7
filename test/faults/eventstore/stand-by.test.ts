import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { until } from '../../support/until.js';
import { Rig } from './rig.js';
import { contentsOf, total } from './stored.js';
import { Writers } from './writers.js';

const STANDING_BY = /standing by/;

describe('an event store that stands by', () => {
  let rig: Rig;
  let second: EventStore | undefined;
  let taking: Promise<EventStore>;
  let said: string[];
  const clients: EventStoreDBClient[] = [];
  const connect = (url: string): EventStoreDBClient => {
    const client = EventStoreDBClient.connectionString(url);
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    rig = new Rig();
    await rig.start();
    said = [];
    second = undefined;
    taking = startEventStore({ databaseUrl: rig.databaseUrl, log: (line) => said.push(line) });
    taking.then(
      (store) => (second = store),
      () => said.push('did not start'),
    );
    await until(async () => said.some((line) => STANDING_BY.test(line)) || undefined);
  }, 60_000);
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
    await second?.stop();
    await rig.remove();
  });

  it('takes over from one that was killed under load, with everything acknowledged', async () => {
    const writers = new Writers(connect(rig.url), 16);
    await writers.progress(200);
    await rig.killServerForGood();
    await writers.abandon();
    const stored = await contentsOf(connect((await taking).url), writers.streams);

    const lost = writers.acknowledged.filter(({ stream, id, revision }) => stored.get(stream)?.[revision] !== id);
    expect([writers.violations, lost]).toEqual([[], []]);
    expect(total(stored)).toBeGreaterThanOrEqual(200);
  }, 60_000);

  it('outlives a restart of the database, and takes over later', async () => {
    await rig.killPostgres();
    await until(async () => said.length > 1 || undefined);
    await rig.killServerForGood();
    const client = connect((await taking).url);
    const { success } = await client.appendToStream('after', jsonEvent({ type: 'happened', data: {} }));
    expect(success).toBe(true);
  }, 60_000);
});
