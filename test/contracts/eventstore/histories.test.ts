import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import fc from 'fast-check';
import { startEventStore, type EventStore } from '../../../src/infrastructure/embedded/eventstore/server.js';
import { collect, freshStream } from './conformance/support.js';
import { storeOnFreshDatabase } from './database.js';
import { Model, type Answer, type Expected, type Metadata } from './model.js';

type Removal = Exclude<Expected, 'stream_exists'>;

type Step =
  | { readonly act: 'append'; readonly stream: number; readonly expected: Expected; readonly ids: readonly number[] }
  | { readonly act: 'delete' | 'tombstone'; readonly stream: number; readonly expected: Removal }
  | { readonly act: 'describe'; readonly stream: number; readonly metadata: Metadata };

const stream = fc.nat(1);
const removal: fc.Arbitrary<Removal> = fc.oneof(fc.constantFrom('any' as const, 'no_stream' as const), fc.nat(4));
const expected: fc.Arbitrary<Expected> = fc.oneof(removal, fc.constant('stream_exists' as const));
const ids = fc.array(fc.nat(7), { minLength: 1, maxLength: 3 });
const metadata = fc.record(
  { maxCount: fc.integer({ min: 1, max: 4 }), truncateBefore: fc.nat(5) },
  { requiredKeys: [] },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ act: fc.constant('append' as const), stream, expected, ids }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('delete' as const), stream, expected: removal }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('tombstone' as const), stream, expected: removal }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('describe' as const), stream, metadata }) },
);

const stores = [
  [
    'in memory',
    60,
    async () => ({ store: await startEventStore({ memory: true }), stop: async (store: EventStore) => store.stop() }),
  ],
  [
    'on Postgres',
    30,
    async () => {
      const running = await storeOnFreshDatabase();
      return { store: running.store, stop: () => running.stop() };
    },
  ],
] as const;

describe.each(stores)('any history of a store %s', (_, numRuns, start) => {
  let running: Awaited<ReturnType<typeof start>>;
  let client: EventStoreDBClient;
  beforeAll(async () => {
    running = await start();
    client = EventStoreDBClient.connectionString(running.store.url);
  });
  afterAll(async () => {
    await client.dispose();
    await running.stop(running.store);
  });

  it('is answered and shown as the model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
        const names = [freshStream('history'), freshStream('history')];
        const pool = Array.from({ length: 8 }, () => randomUUID());
        const nameOf = (index: number): string => names[index] ?? '';
        const model = new Model();
        for (const each of steps) {
          const chosen = each.act === 'append' ? each.ids.map((index) => pool[index] ?? '') : [];
          const answer = await actual(client, nameOf(each.stream), each, chosen);
          expect([each, answer]).toEqual([each, expectedAnswer(model, nameOf(each.stream), each, chosen)]);
          expect([each, await shown(client, nameOf(each.stream))]).toEqual([each, model.read(nameOf(each.stream))]);
        }
        await running.store.scavenge();
        for (const name of names) expect(await shown(client, name)).toEqual(model.read(name));
      }),
      { numRuns },
    );
  });
});

function expectedAnswer(model: Model, name: string, step: Step, ids: string[]): Answer {
  if (step.act === 'append') return model.append(name, step.expected, ids);
  if (step.act === 'describe') return model.describe(name, step.metadata);
  return step.act === 'delete' ? model.delete(name, step.expected) : model.tombstone(name, step.expected);
}

async function actual(client: EventStoreDBClient, name: string, step: Step, ids: string[]): Promise<Answer> {
  const expectedRevision = 'expected' in step ? revisionOf(step.expected) : 'any';
  try {
    if (step.act === 'append') {
      const events = ids.map((id) => jsonEvent({ id, type: 'happened', data: {} }));
      const { nextExpectedRevision } = await client.appendToStream(name, events, { expectedRevision });
      return { written: Number(nextExpectedRevision) };
    }
    if (step.act === 'describe') await client.setStreamMetadata(name, { ...step.metadata });
    else if (expectedRevision !== 'stream_exists') {
      await (step.act === 'delete'
        ? client.deleteStream(name, { expectedRevision })
        : client.tombstoneStream(name, { expectedRevision }));
    }
    return { written: 0 };
  } catch (failure) {
    const type = failure instanceof Error && 'type' in failure ? failure.type : undefined;
    if (type === 'wrong-expected-version') return 'conflict';
    if (type === 'stream-deleted') return 'deleted';
    throw failure;
  }
}

const revisionOf = (expected: Expected) => (typeof expected === 'number' ? BigInt(expected) : expected);

async function shown(client: EventStoreDBClient, name: string): Promise<'absent' | 'deleted' | [number, string][]> {
  try {
    const events = await collect(client.readStream(name));
    return events.map(({ event }) => [Number(event?.revision), event?.id ?? '']);
  } catch (failure) {
    const type = failure instanceof Error && 'type' in failure ? failure.type : undefined;
    if (type === 'stream-not-found') return 'absent';
    if (type === 'stream-deleted') return 'deleted';
    throw failure;
  }
}
