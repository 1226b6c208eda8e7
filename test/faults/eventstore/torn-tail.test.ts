import { EventStoreDBClient, jsonEvent, START } from '@eventstore/db-client';
import { until } from '../../support/until.js';
import { Follower, type Seen } from './follower.js';
import { Rig } from './rig.js';
import { contentsOf, total, type Stored } from './stored.js';
import { cutOff, holed, intact, zeroed, type Damage, type WalPlace } from './wal.js';
import { Writers, type Append } from './writers.js';

/*
 * A disk that lied about what it had written, and a power cut: the end of Postgres's log is gone, and events with it
 * that were acknowledged. Nothing can bring those back but whoever wrote them. The settings keep Postgres from writing
 * its tables meanwhile; one whose tables are ahead of its log is beyond what any database survives.
 */
const rig = new Rig(['bgwriter_lru_maxpages=0', 'autovacuum=off', 'checkpoint_timeout=1h']);
const clients: EventStoreDBClient[] = [];

beforeAll(() => rig.start(), 60_000);
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.dispose()));
});
afterAll(() => rig.remove());

function connect(): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(rig.url);
  clients.push(client);
  return client;
}

const everything = { server: true };
const postgresAlone = { server: false };

describe('an event store whose database lost the end of its log', () => {
  it.each([
    ['was cut off, with the power of all', 'cut-off', cutOff, everything],
    ['reads as zeros, with the power of all', 'zeroed', zeroed, everything],
    ['has a hole, with the power of all', 'holed', holed, everything],
    ['was cut off below a store that lives on', 'below', cutOff, postgresAlone],
  ])(
    'goes on from what is left, and takes again what was lost, when the end %s',
    async (_, name, damage, killed) => {
      const { lost, faults } = await disaster(name, damage, killed);
      expect(faults).toEqual([]);
      expect(lost).toBeGreaterThan(0); // else nothing has been shown
    },
    90_000,
  );

  it('has lost nothing acknowledged when the end is intact', async () => {
    expect(await disaster('intact', intact, everything)).toEqual({ lost: 0, faults: [] });
  }, 90_000);

  it('shows who follows a stream what now stands at the numbers seen before', async () => {
    const client = connect();
    const stream = 'followed';
    const write = (expected: 'no_stream' | bigint, n: number) =>
      client.appendToStream(stream, jsonEvent({ type: 'happened', data: { n } }), { expectedRevision: expected });
    const seen: [revision: number, n: number][] = [];
    const subscription = client.subscribeToStream<{ type: 'happened'; data: { n: number } }>(stream);
    subscription.on('data', ({ event }) => event && seen.push([Number(event.revision), event.data.n]));
    await write('no_stream', 0);
    const place = await rig.endOfWal();
    await write(0n, 1);
    await write(1n, 2);
    await until(async () => seen.length === 3 || undefined);

    await rig.powerCut(postgresAlone, async (folder) => zeroed(folder, place));
    const other = jsonEvent({ type: 'happened', data: { n: 100 } });
    // The server is still coming back: what fails is tried again, and `until` gives up with an error of its own.
    await until(() => client.appendToStream(stream, other, { expectedRevision: 0n }).catch(() => undefined));

    await until(async () => seen.length === 4 || undefined);
    expect(seen).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [1, 100],
    ]);
    await subscription.unsubscribe();
  }, 60_000);

  it('shows whoever was still catching up all that stands there now', async () => {
    const client = connect();
    const stream = 'caught-up-with';
    const text = 'x'.repeat(9000);
    // More than a server and a client that does not read take up between them.
    const write = async (from: number, to: number, when: string): Promise<void> => {
      for (let n = from; n < to; n += 100) {
        const events = Array.from({ length: 100 }, () => jsonEvent({ type: 'happened', data: { when, text } }));
        await client.appendToStream(stream, events, { expectedRevision: n === 0 ? 'no_stream' : BigInt(n - 1) });
      }
    };
    await write(0, 100, 'before');
    const place = await rig.endOfWal();
    await write(100, 2500, 'before');

    const seen: [revision: number, when: string][] = [];
    const subscription = client.subscribeToStream<{ type: 'happened'; data: { when: string } }>(stream);
    subscription.on('data', ({ event }) => event && seen.push([Number(event.revision), event.data.when]));
    await until(async () => seen.length > 0 || undefined);
    subscription.pause();
    await contentsOf(client, [stream]); // by then the server has read what it reads ahead, and waits
    await rig.powerCut(postgresAlone, async (folder) => zeroed(folder, place));
    await until(() =>
      write(100, 200, 'after').then(
        () => true,
        () => undefined,
      ),
    );
    await write(200, 2500, 'after');
    subscription.resume();

    await until(async () => seen.at(-1)?.[0] === 2499 || undefined);
    const after = seen.flatMap(([revision, when]) => (when === 'after' ? [revision] : []));
    expect(after).toEqual(Array.from({ length: 2400 }, (_, n) => 100 + n));
    await subscription.unsubscribe();
  }, 90_000);
});

/** Writes, loses the end of the log, looks at what is left, repeats what was lost, and goes on. */
async function disaster(
  name: string,
  damage: Damage,
  killed: { server: boolean },
): Promise<{ lost: number; faults: string[] }> {
  const client = connect();
  const follower = new Follower(client);
  const writers = new Writers(client, 16, name);
  await writers.progress(300);
  const safe = writers.acknowledged.length;
  const place: WalPlace = await rig.endOfWal();
  await writers.progress(300);
  await rig.powerCut(killed, async (walFolder) => {
    damage(walFolder, place);
    await writers.abandon();
  });

  // As above: read until it can be read.
  const left = await until(() => contentsOf(client, writers.streams).catch(() => undefined), 60_000);
  const seenBefore = [...follower.seen];
  const answers = await repeated(writers.appends);
  const after = await contentsOf(client, writers.streams);
  for (const [stream, { length }] of after) {
    const expectedRevision = BigInt(length - 1);
    await client.appendToStream(stream, jsonEvent({ type: 'after', data: {} }), { expectedRevision });
  }
  const all = await storedInOrder(client, name);
  await until(async () => follower.seen.at(-1)?.position === all.at(-1)?.position || undefined);
  await follower.stop();

  const isLeft = ({ stream, revision, id }: { stream: string; revision: number; id: string }): boolean =>
    left.get(stream)?.[revision] === id;
  const missing = writers.acknowledged.filter((event) => !isLeft(event));
  return {
    lost: missing.length,
    faults: [
      ...writers.violations,
      ...writers.acknowledged
        .slice(0, safe)
        .filter((event) => !isLeft(event))
        .map((event) => `lost ${event.id}`),
      ...torn(left, writers.appends),
      ...notAPrefix(seenBefore.filter(({ stream }) => left.has(stream)).map(isLeft)),
      ...answers,
      ...(total(after) === writers.appends.flatMap(({ events }) => events).length ? [] : ['repeating did not fill up']),
      ...torn(after, writers.appends),
      ...unordered(all, 'stored'),
      ...unordered(follower.seen, 'seen'),
      ...unseen(all, follower.seen),
    ],
  };
}

/** Each append is there whole or not at all, and none without those before it in its stream. */
function torn(stored: Stored, appends: readonly Append[]): string[] {
  return [...stored].flatMap(([stream, ids]) => {
    const whole: string[][] = [[]];
    for (const append of appends.filter((each) => each.stream === stream))
      whole.push([...(whole.at(-1) ?? []), ...append.events.map(({ id }) => id)]);
    const ends = whole.find(({ length }) => length === ids.length);
    return ends?.every((id, at) => ids[at] === id) ? [] : [`${stream}: ${ids.length} stored`];
  });
}

const notAPrefix = (kept: readonly boolean[]): string[] =>
  kept.lastIndexOf(true) > kept.indexOf(false) && kept.includes(false) ? ['something later than a loss was kept'] : [];

/** Asks for everything again, stream by stream: so the lost events find other places among all than they had. */
async function repeated(appends: readonly Append[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { stream, expectedRevision, events, again } of appends.toSorted(byStreamBackwards)) {
    const last = (expectedRevision === 'no_stream' ? -1 : Number(expectedRevision)) + events.length;
    const answer = await again().then(({ nextExpectedRevision }) => Number(nextExpectedRevision), String);
    if (answer !== last) faults.push(`${stream}: ${answer} instead of ${last}`);
  }
  return faults;
}

const byStreamBackwards = (a: Append, b: Append): number => b.stream.localeCompare(a.stream);

async function storedInOrder(client: EventStoreDBClient, name: string): Promise<Seen[]> {
  const all: Seen[] = [];
  for await (const { event } of client.readAll({ fromPosition: START })) {
    if (!event?.streamId.startsWith(`${name}-`)) continue;
    const { streamId: stream, id, revision, position } = event;
    all.push({ stream, id, revision: Number(revision), position: position.commit });
  }
  return all;
}

const unordered = (events: readonly Seen[], where: string): string[] =>
  events.flatMap(({ position }, at) =>
    at === 0 || position > (events[at - 1]?.position ?? 0n) ? [] : [`${where} out of order`],
  );

/** Whoever was ahead of the loss has seen what is gone, and still misses nothing that is there. */
function unseen(stored: readonly Seen[], seen: readonly Seen[]): string[] {
  const places = new Set(seen.map(({ position, id }) => `${position} ${id}`));
  return stored.filter(({ position, id }) => !places.has(`${position} ${id}`)).map(({ id }) => `never saw ${id}`);
}
