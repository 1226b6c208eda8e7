import { randomUUID } from 'node:crypto';
import { OutcomeUnknown, WrongRevision } from '../../../src/application/faults/errors.js';
import type { EventStore } from '../../../src/application/ports/event-store.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';
import { MemoryVault } from '../../../src/infrastructure/memory/vault.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

type Append = Parameters<EventStore['append']>;
type Refusing = 'its answer is lost' | 'it is stored late' | 'its retry comes before it is stored';
const faults: readonly Refusing[] = ['its answer is lost', 'it is stored late', 'its retry comes before it is stored'];

/** An event store in which one exact append goes wrong: it is stored, and its sender hears that the revision is wrong. */
class UnreliableEventStore extends MemoryEventStore {
  /** Counts down to the append that goes wrong. */
  failsIn = Infinity;
  fault: Refusing = 'its answer is lost';
  private pending: Append | undefined;
  private refusals = 0;

  override async append(...args: Append) {
    const [stream, expected, events] = args;
    if (this.pending && this.pending[2][0]?.id === events[0]?.id) return this.sentAgain(stream, this.pending);
    if (expected === 'any' || (this.failsIn -= 1) !== 0) return super.append(...args);
    this.pending = args;
    if (this.fault === 'its answer is lost') await super.append(...args);
    throw new OutcomeUnknown(stream);
  }

  private async sentAgain(stream: string, first: Append): Promise<never> {
    this.refusals += 1;
    const isStoredNow = this.fault === 'it is stored late' ? this.refusals === 1 : this.refusals === 2;
    if (this.fault !== 'its answer is lost' && isStoredNow) await super.append(...first);
    throw new WrongRevision(stream);
  }
}

interface Case {
  readonly name: string;
  /** The input, once what it is about was made. */
  readonly input: (app: MemoryApp, key: string) => Promise<Readonly<Record<string, unknown>>>;
  /** How many exact appends it takes. */
  readonly appends: number;
}

const idOf = async (app: MemoryApp, key: string, name: string, input = {}) =>
  dataOf<{ id: string }>(await app.call(key, name, input)).id;
const thread = async (app: MemoryApp, key: string) => ({ threadId: await idOf(app, key, 'thread.create') });
const pad = async (app: MemoryApp, key: string) => ({
  scratchpadId: await idOf(app, key, 'scratchpad.create', await thread(app, key)),
});

const cases: readonly Case[] = [
  { name: 'thread.create', appends: 1, input: async () => ({ title: 'Plan' }) },
  { name: 'thread.update', appends: 1, input: async (...made) => ({ ...(await thread(...made)), title: 'Later' }) },
  { name: 'thread.delete', appends: 1, input: thread },
  { name: 'scratchpad.create', appends: 2, input: thread },
  { name: 'scratchpad.content.set', appends: 1, input: async (...made) => ({ ...(await pad(...made)), content: 'x' }) },
  { name: 'workspace.create', appends: 1, input: async () => ({ name: 'Team' }) },
  { name: 'key.create', appends: 1, input: async () => ({ name: 'worker' }) },
  {
    name: 'key.revoke',
    appends: 1,
    input: async (app, key) => ({ keyId: await idOf(app, key, 'key.create', { name: 'worker' }) }),
  },
  {
    name: 'agent.enroll',
    appends: 1,
    input: async () => ({
      idempotencyKey: randomUUID(),
      harness: 'offline',
      name: 'Scout',
      persona: null,
      model: 'm',
      provider: 'anthropic',
      credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
    }),
  },
];

/** What an operation answers (the names of its fields), what it stores, and what it destroys. */
async function played({ name, input }: Case, fault?: { readonly kind: Refusing; readonly append: number }) {
  const log = new UnreliableEventStore();
  const vault = new MemoryVault();
  const discard = jest.spyOn(vault, 'discard');
  const app = await memoryApp({ log, vault });
  const ada = await memberOf(app, 'Ada');
  const given = await input(app, ada.key);
  const after = await log.headPosition();
  if (fault) [log.fault, log.failsIn] = [fault.kind, fault.append];
  const reply = await app.call(ada.key, name, given);
  return {
    refusal: refusalOf(reply),
    fields: refusalOf(reply) === 'ok' ? Object.keys(dataOf<object>(reply)).sort() : [],
    stored: (await log.readAll(after, 100)).map(({ type }) => type),
    discarded: discard.mock.calls.length,
    hasFailed: log.failsIn <= 0,
  };
}

const table = cases.flatMap((operation) =>
  faults.flatMap((kind) =>
    Array.from({ length: operation.appends }, (_, n) => [operation.name, n + 1, kind, operation] as const),
  ),
);

describe('when the store refuses an append for the event that it stored itself', () => {
  it.each(table)('%s is done once: append %d, and %s', async (_, append, kind, operation) => {
    const calm = await played(operation);
    const { hasFailed, ...faulty } = await played(operation, { kind, append });
    expect(hasFailed).toBe(true);
    expect(calm.refusal).toBe('ok');
    expect({ ...faulty, hasFailed: false }).toEqual(calm);
    expect(faulty.discarded).toBe(0);
  });
});
