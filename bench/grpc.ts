import { EventStoreDBClient } from '@eventstore/db-client';
import { startListeners } from './support/eventstore-listeners.js';
import { appendTo, load } from './support/eventstore-load.js';
import { figure, median } from './support/figures.js';
import { listenerKinds, startListener, type ListenerKind, type ListenerProcess } from './support/listener-process.js';
import { appendRequests, batchRequests, RawClient, readRequest } from './support/raw-client.js';

const rounds = 3;
const long = { stream: 'long', events: 1000 };

/** One kind of call. `prepare` makes what a run needs before the clock starts, and answers the run and what ends it. */
interface Work {
  readonly name: string;
  /** Calls of a run; for a long read, events. */
  readonly count: number;
  readonly prepare: (port: number) => Promise<{ run(): Promise<unknown>; end(): unknown }>;
}

const works: readonly Work[] = [
  batchAppends(1, 2000),
  batchAppends(16, 8000),
  batchAppends(128, 16_000),
  batchAppends(128, 8000, 5),
  calls('Append, 16 in flight', 4000, appendRequests, (client, request) => client.append(request)),
  calls('Read of the last event, 16 in flight', 4000, lastReads, (client, request) => client.read(request, 1)),
  {
    name: 'Read of 1000 events, per event',
    count: 40 * long.events,
    async prepare(port) {
      const client = new RawClient(port);
      const request = readRequest(long.stream, long.events, 'FORWARDS');
      return { run: () => load(1, 40, () => client.read(request, long.events)), end: () => client.close() };
    },
  },
  {
    name: 'official client, BatchAppend, 128 in flight',
    count: 6000,
    async prepare(port) {
      const client = clientOf(port);
      return { run: () => load(128, 6000, appendTo(client, 'official')), end: () => client.dispose() };
    },
  },
  {
    name: 'official client, read of 1000 events, per event',
    count: 20 * long.events,
    async prepare(port) {
      const client = clientOf(port);
      return { run: () => load(1, 20, () => drain(client.readStream(long.stream))), end: () => client.dispose() };
    },
  },
];

/**
 * The event store's own gRPC and protobuf beside the server of grpc-js, once with the product's own messages and once
 * with the generated ones, all on the same engine over memory.
 */
async function main(): Promise<void> {
  const listeners = await Promise.all((Object.keys(listenerKinds) as ListenerKind[]).map(startListener));
  for (const { port } of listeners) {
    const client = new RawClient(port);
    await client.batchAppend(batchRequests(long.events, long.stream), 16);
    client.close();
  }
  for (const work of works) await compare(work, listeners);
  for (const listener of listeners) listener.stop();
}

interface Cost {
  readonly perSecond: number;
  /** Microseconds of the server's processor time for each call. */
  readonly cpu: number;
}

async function compare(work: Work, listeners: readonly ListenerProcess[]): Promise<void> {
  const costs = listeners.map((): Cost[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    const turns = [...listeners.entries()];
    for (const [index, listener] of round % 2 === 0 ? turns : turns.reverse()) {
      const cost = await measure(work, listener);
      if (round > 0) costs[index]?.push(cost); // by the second round all are compiled
    }
  }
  console.log(work.name);
  const [own, ...others] = costs.map(middle);
  if (!own) return;
  figure('  own', `${round(own.perSecond)}/s, ${own.cpu.toFixed(1)} µs of CPU`);
  for (const [index, { perSecond, cpu }] of others.entries()) {
    const ratios = `own: ${(own.perSecond / perSecond).toFixed(2)} x the rate, ${(own.cpu / cpu).toFixed(2)} x the CPU`;
    figure(`  ${listeners[index + 1]?.kind ?? ''}`, `${round(perSecond)}/s, ${cpu.toFixed(1)} µs of CPU; ${ratios}`);
  }
}

async function measure({ count, prepare }: Work, listener: ListenerProcess): Promise<Cost> {
  const work = await prepare(listener.port);
  const before = await listener.cpu();
  const began = performance.now();
  await work.run();
  const seconds = (performance.now() - began) / 1000;
  const cpu = (await listener.cpu()) - before;
  await work.end();
  return { perSecond: count / seconds, cpu: cpu / count };
}

const middle = (costs: readonly Cost[]): Cost => ({
  perSecond: median(costs.map(({ perSecond }) => perSecond)),
  cpu: median(costs.map(({ cpu }) => cpu)),
});

function batchAppends(inFlight: number, count: number, subscribers = 0): Work {
  return {
    name: `BatchAppend, ${inFlight} in flight${subscribers > 0 ? `, ${subscribers} live subscribers` : ''}`,
    count,
    async prepare(port) {
      const client = new RawClient(port);
      const requests = batchRequests(count);
      const listeners = subscribers > 0 ? await startListeners(port, subscribers) : undefined;
      return {
        run: () => client.batchAppend(requests, inFlight),
        end() {
          listeners?.stop();
          client.close();
        },
      };
    },
  };
}

function calls(
  name: string,
  count: number,
  make: (count: number) => readonly Buffer[],
  one: (client: RawClient, request: Buffer) => Promise<void>,
): Work {
  return {
    name,
    count,
    async prepare(port) {
      const client = new RawClient(port);
      const requests = make(count);
      return {
        run: () => load(16, count, async (n) => one(client, requests[n] ?? Buffer.alloc(0))),
        end: () => client.close(),
      };
    },
  };
}

function lastReads(count: number): readonly Buffer[] {
  const request = readRequest(long.stream, 1, 'BACKWARDS');
  return Array.from({ length: count }, () => request);
}

const clientOf = (port: number): EventStoreDBClient =>
  EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`);

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  let seen = 0;
  for await (const _ of events) seen += 1;
  if (seen !== long.events) throw new Error(`The stream was read with ${seen} events.`);
}

const round = (value: number): number => Math.round(value);

void main();
