import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { processesOf, processOf, Stage, until } from './stage.js';

const stage = new Stage();
const clients: EventStoreDBClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.dispose()));
  await stage.clear();
});
afterAll(() => Stage.removeTemplate());

describe('the embedded event store as a process', () => {
  it('keeps its events and its address over a restart', async () => {
    const home = await stage.usedHome();
    const before = await stage.start(home, { eventstore: true });
    await append(connectTo(before.eventstoreUrl), 'first');
    await before.stop();

    const after = await stage.start(home, { eventstore: true });

    expect(after.eventstoreUrl).toBe(before.eventstoreUrl);
    expect(await namesIn(connectTo(after.eventstoreUrl))).toEqual(['first']);
  });

  it.each(['postgres', 'eventstore', 'keeper'])('has what it acknowledged after %s was killed', async (name) => {
    const home = await stage.usedHome();
    const { eventstoreUrl } = await stage.start(home, { eventstore: true });
    const client = connectTo(eventstoreUrl);
    await append(client, 'before');
    const killed = processOf(home, name);

    process.kill(killed.pid, 'SIGKILL');
    await until(() => processesOf(home).some((process) => process.name === name && process.pid !== killed.pid));

    await until(() => succeeds(append(connectTo(eventstoreUrl), 'after')));
    expect(await namesIn(connectTo(eventstoreUrl))).toEqual(expect.arrayContaining(['before', 'after']));
  });
});

function connectTo(url: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(url);
  clients.push(client);
  return client;
}

const append = (client: EventStoreDBClient, name: string) =>
  client.appendToStream('kept', jsonEvent({ type: 'kept', data: { name } }));

const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    () => false,
  );

async function namesIn(client: EventStoreDBClient): Promise<unknown[]> {
  const names: unknown[] = [];
  // The test wrote them, so their shape is known.
  for await (const { event } of client.readStream('kept')) names.push((event?.data as { name: string }).name);
  return names;
}
