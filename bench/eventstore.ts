import { END, EventStoreDBClient, jsonEvent, START } from '@eventstore/db-client';
import { Pool } from 'pg';
import { freshDatabase } from '../test/support/database.js';
import { startListeners } from './support/eventstore-listeners.js';
import { appendTo, fill, insertInto, load, type Load } from './support/eventstore-load.js';
import { startServer, type ServerProcess } from './support/eventstore-server.js';

const rounds = 3;
/** A million, as the target says, takes a minute to put in: BENCH_EVENTS=1000000. */
const many = Number(process.env['BENCH_EVENTS'] ?? 200_000);

/**
 * The embedded event store beside plain Postgres, which everything is a ratio to: whoever measures on a busy machine
 * measures both on it.
 */
async function main(): Promise<void> {
  const database = await freshDatabase();
  const pool = new Pool({ connectionString: database.url, max: 64 });
  pool.on('error', () => undefined); // its last connections may still be closing when the database is dropped
  const insert = await insertInto(pool);
  const server = await startServer(database.url, 'eventstore');
  const client = EventStoreDBClient.connectionString(server.url);
  const append = appendTo(client, 'bench');
  await Promise.all([load(32, 2000, append), load(32, 2000, insert)]);
  // What is measured is a server that has been running for a while: both sides are compiled by now.
  for (const one of [append, insert]) await load(1, 2000, one);

  for (const [inFlight, total, target] of [
    [1, 600, 0.4],
    [16, 3000, 0.5],
    [128, 8000, 1],
  ] as const) {
    await compareAppends(server, inFlight, total, target, append, insert);
  }
  await reading(server, client);
  await delay(client);
  await subscribers(server, append);
  await client.dispose();
  await server.stop();
  await large(database.url, pool, insert);
  await pool.end();
  await database.drop();
}

async function compareAppends(
  server: ServerProcess,
  inFlight: number,
  total: number,
  target: number,
  append: (n: number) => Promise<unknown>,
  insert: (n: number) => Promise<unknown>,
): Promise<void> {
  const appends: Load[] = [];
  const inserts: Load[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    inserts.push(await load(inFlight, total, insert));
    const before = server.cpu();
    appends.push(await load(inFlight, total, append));
    cpu.push(((server.cpu() - before) * 1000) / total);
  }
  const [rate, plain] = [median(appends.map(perSecond)), median(inserts.map(perSecond))];
  tell(
    `append, ${inFlight} in flight`,
    `${round(rate)}/s, plain insert ${round(plain)}/s, ratio ${(rate / plain).toFixed(2)} (≥ ${target}), ` +
      `p50 ${median(appends.map(({ p50 }) => p50)).toFixed(1)} ms, p99 ${median(appends.map(({ p99 }) => p99)).toFixed(1)} ms, ` +
      `server ${round(median(cpu))} µs of CPU each`,
  );
}

async function reading(server: ServerProcess, client: EventStoreDBClient): Promise<void> {
  const stream = 'bench-long';
  const events = () =>
    Array.from({ length: 1000 }, () => jsonEvent({ type: 'happened', data: { text: 'x'.repeat(420) } }));
  for (let n = 0; n < 30; n += 1) await client.appendToStream(stream, events());
  await count(client.readStream(stream)); // both sides are compiled by now
  const [streamRates, allRates, cpu]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    streamRates.push(await rateOf(async () => count(client.readStream(stream))));
    const before = server.cpu();
    let seen = 0;
    allRates.push(await rateOf(async () => (seen = await untilCaughtUp(client))));
    cpu.push(((server.cpu() - before) * 1000) / seen);
  }
  tell('readStream', `${round(median(streamRates))} events/s (≥ 40000, decoding in the client included)`);
  tell(
    'catch-up of all',
    `${round(median(allRates))} events/s (≥ 40000), server ${median(cpu).toFixed(1)} µs of CPU each`,
  );
}

async function rateOf(read: () => Promise<number>): Promise<number> {
  const began = performance.now();
  return ((await read()) / (performance.now() - began)) * 1000;
}

async function count(events: AsyncIterable<unknown>): Promise<number> {
  let seen = 0;
  for await (const _ of events) seen += 1;
  return seen;
}

function untilCaughtUp(client: EventStoreDBClient): Promise<number> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    const subscription = client.subscribeToAll({ fromPosition: START });
    subscription.on('data', () => (seen += 1));
    subscription.on('error', reject);
    subscription.on('caughtUp', () => void subscription.unsubscribe().then(() => resolve(seen)));
  });
}

/** From the call of an append until a subscriber holds the event. */
async function delay(client: EventStoreDBClient): Promise<void> {
  let arrived: () => void = () => undefined;
  const subscription = client.subscribeToAll({ fromPosition: END });
  await new Promise((resolve) => subscription.on('caughtUp', () => resolve(undefined)));
  subscription.on('data', () => arrived());
  const result = await load(1, 300, async (n) => {
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    await client.appendToStream('bench-delay', jsonEvent({ type: 'happened', data: { n } }));
    await arrival;
  });
  await subscription.unsubscribe();
  tell('append to subscriber', `p50 ${result.p50.toFixed(1)} ms (≤ 3), p99 ${result.p99.toFixed(1)} ms`);
}

async function subscribers(server: ServerProcess, append: (n: number) => Promise<unknown>): Promise<void> {
  const [alone, followed, received]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    alone.push(perSecond(await load(128, 6000, append)));
    const listeners = await startListeners(server.port, 20);
    followed.push(perSecond(await load(128, 6000, append)));
    received.push((await listeners.bytes()) / 20 / 6000);
    listeners.stop();
  }
  const cost = 1 - median(followed) / median(alone);
  tell(
    '20 live subscribers',
    `${round(median(followed))} appends/s, alone ${round(median(alone))}/s, cost ${round(cost * 100)} % (≤ 40), ` +
      `${round(median(received))} bytes an event received by each`,
  );
  const listeners = await startListeners(server.port, 100);
  await load(128, 6000, append);
  tell('memory with 100 subscribers', `${round(server.memory())} MB (≤ 300)`);
  listeners.stop();
}

/** How a store with many events starts, and how it writes compared to an empty one. */
async function large(databaseUrl: string, pool: Pool, insert: (n: number) => Promise<unknown>): Promise<void> {
  await (await startServer(databaseUrl, 'filled')).stop();
  for (let n = 0; n < many; n += 50_000) await fill(pool, 'filled', n, Math.min(50_000, many - n));
  await pool.query('vacuum analyze filled.events');
  await pool.query('checkpoint');
  const full = await startServer(databaseUrl, 'filled');
  tell(`start with ${many} events`, `${round(full.startedIn)} ms (≤ 2000)`);
  const empty = await startServer(databaseUrl, 'empty');
  const clients = [full, empty].map(({ url }) => EventStoreDBClient.connectionString(url));
  const appends = clients.map((client) => appendTo(client, 'after'));
  // Both are new processes: each gets warm, and neither is always the one that goes first.
  for (const append of appends) await load(128, 6000, append);
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const turns = [...appends.entries()];
    for (const [at, append] of round % 2 === 0 ? turns : turns.reverse()) {
      rates[at]?.push(perSecond(await load(128, 6000, append)));
    }
  }
  const [rate, whenEmpty] = [median(rates[0]), median(rates[1])];
  const plain = perSecond(await load(128, 6000, insert));
  tell(
    `append with ${many} events`,
    `${round(rate)}/s, empty ${round(whenEmpty)}/s, ratio ${(rate / whenEmpty).toFixed(2)} (≥ 0.9), plain insert ${round(plain)}/s`,
  );
  for (const client of clients) await client.dispose();
  await full.stop();
  await empty.stop();
}

const perSecond = (result: Load): number => result.perSecond;
const round = (value: number): number => Math.round(value);
const tell = (what: string, figures: string): void => console.log(`  ${what}: ${figures}`);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

void main();
