import { createHash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { credentialIdOf } from '../../../src/application/ports/credential-vault.js';
import { newId } from '../../../src/application/kernel/ids.js';
import type { Entry } from '../../../src/application/ports/ledger-store.js';
import type { EventStore } from '../../../src/application/ports/event-store.js';
import type { PadRef } from '../../../src/application/ports/pad-keys.js';
import type { ScratchpadStore } from '../../../src/application/ports/scratchpad-store.js';
import type { Caller } from './caller.js';
import { newPad, newPerson, newThread } from './people.js';

/** What leftovers are made with, and looked at with: nothing that could mend them. */
export interface Bench {
  readonly admin: Caller;
  readonly redis: Redis;
  readonly working: ScratchpadStore;
  readonly log: Pick<EventStore, 'append' | 'readStream'>;
}

/** Something half done that only the worker finishes. */
export interface Leftover {
  readonly name: string;
  /** Effects that finishing it comes by. */
  readonly effects: readonly string[];
  /** Leaves it behind, and tells what is not finished yet. */
  leave(bench: Bench): Promise<() => Promise<readonly string[]>>;
}

interface Left extends PadRef {
  readonly threadId: string;
  readonly caller: Caller;
  readonly keys: { readonly content: string; readonly entries: string };
}

const unless = (isSo: boolean, what: string): string[] => (isSo ? [] : [what]);

/** A pad with content at r1 and three entries, all of them reported. */
async function written({ admin }: Bench): Promise<Left> {
  const { id: ownerId, caller } = await newPerson(admin, 'Ada');
  const { id: scratchpadId, threadId } = await newPad(caller);
  await caller.done('PUT', `/v1/scratchpads/${scratchpadId}/content`, { content: 'old' });
  for (const content of ['one', 'two', 'three'])
    await caller.done('POST', `/v1/scratchpads/${scratchpadId}/entries`, { content });
  const key = `scratchpad:${ownerId}:${scratchpadId}`;
  return { ownerId, scratchpadId, threadId, caller, keys: { content: `${key}:content`, entries: `${key}:entries` } };
}

/** An entry whose writer has not been heard of since. */
const oldEntry = (content: string): Entry => ({
  id: newId('entry', new Date()),
  kind: 'note',
  content,
  fields: {},
  author: { type: 'key', id: 'key_1' },
  bytes: Buffer.byteLength(content),
  sha256: createHash('sha256').update(content).digest('hex'),
  at: new Date(Date.now() - 60_000).toISOString(),
  correlationId: randomUUID(),
});

/** How often a ledger's stream says this. */
async function reported({ log }: Bench, { scratchpadId }: PadRef, type: string, data: object = {}): Promise<number> {
  const events = await log.readStream(`scratchpad_ledger-${scratchpadId}`);
  const wanted = Object.entries(data);
  return events.filter((event) => event.type === type && wanted.every(([name, value]) => event.data[name] === value))
    .length;
}

/** What stands in a ledger: ids of entries, and anything else as it is. */
const elementsOf = async ({ redis }: Bench, { keys }: Left): Promise<readonly string[]> =>
  (await redis.lrange(keys.entries, 1, -1)).map((text) => (text.startsWith('[') ? text.slice(2, 34) : text));

const keysOf = ({ redis }: Bench, { scratchpadId }: PadRef): Promise<string[]> => redis.keys(`*:${scratchpadId}:*`);

/** The next event of a thread, as its owner would have stored it. */
async function tellOfThread({ log }: Bench, threadId: string, type: string, scratchpadId: string): Promise<void> {
  const [first, ...others] = await log.readStream(`thread-${threadId}`);
  const data = { threadId, scratchpadId };
  const event = { id: randomUUID(), type, data, metadata: first?.metadata ?? {} };
  await log.append(`thread-${threadId}`, others.length, [event]);
}

async function gone(bench: Bench, pad: PadRef): Promise<readonly string[]> {
  const events = await bench.log.readStream(`scratchpad-${pad.scratchpadId}`);
  const purged = events.filter(({ type }) => type === 'scratchpad.purged').length;
  return [
    ...unless((await keysOf(bench, pad)).length === 0, 'keys are left'),
    ...unless(purged === 1, `it is reported ${purged} times that it was purged`),
  ];
}

const purging = ['purgeQueue.purge', 'padKeys.destroy', 'eventStore.append(scratchpad.purged)'];

export const leftovers: readonly Leftover[] = [
  {
    name: 'an entry that nobody reported',
    effects: ['eventStore.append(scratchpad.entry_appended)', 'dirtyPads.markClean'],
    async leave(bench) {
      const pad = await written(bench);
      const entry = oldEntry('four');
      await bench.working.ledger.append(pad, entry);
      return async () => {
        const times = await reported(bench, pad, 'scratchpad.entry_appended', { entryId: entry.id, index: 4 });
        return unless(times === 1, `it is reported ${times} times`);
      };
    },
  },
  {
    name: 'an entry that was pushed twice',
    effects: ['eventStore.append(scratchpad.entry_repeated)', 'ledgerRepair.markDuplicate'],
    async leave(bench) {
      const pad = await written(bench);
      await bench.redis.rpush(pad.keys.entries, (await bench.redis.lindex(pad.keys.entries, 1)) ?? '');
      return async () => {
        const times = await reported(bench, pad, 'scratchpad.entry_repeated', { index: 4, of: 1 });
        return [
          ...unless(times === 1, `it is reported ${times} times`),
          ...unless((await elementsOf(bench, pad))[3]?.startsWith('{"entryId":') === true, 'it is not marked'),
        ];
      };
    },
  },
  {
    name: 'a clear that went half way',
    effects: ['eventStore.append(scratchpad.entries_cleared)', 'ledgerStore.dropCleared'],
    async leave(bench) {
      const pad = await written(bench);
      await bench.working.ledger.clear(pad, randomUUID());
      return async () => {
        const times = await reported(bench, pad, 'scratchpad.entries_cleared', { count: 3 });
        return [
          ...unless(times === 1, `it is reported ${times} times`),
          ...unless((await keysOf(bench, pad)).length === 2, 'what was cleared is still kept'),
        ];
      };
    },
  },
  {
    name: 'content that was committed and is not shown',
    effects: ['contentStore.promote'],
    async leave(bench) {
      const pad = await written(bench);
      await pad.caller.done('PUT', `/v1/scratchpads/${pad.scratchpadId}/content`, { content: 'new' });
      const last = (await bench.log.readStream(`scratchpad-${pad.scratchpadId}`)).at(-1);
      await bench.redis.hset(pad.keys.content, { revision: '1', body: 'old' });
      await bench.working.content.stage(pad, 2, last?.id ?? '', 'new');
      return async () => {
        const { revision, body, ...others } = await bench.redis.hgetall(pad.keys.content);
        const staged = Object.keys(others).filter((field) => field.startsWith('stage'));
        return [
          ...unless(revision === '2' && body === 'new', `r${String(revision)} says ${String(body)}`),
          ...unless(staged.length === 0, `${staged.join()} are left`),
        ];
      };
    },
  },
  {
    name: 'a ledger that lost its end',
    effects: ['eventStore.append(scratchpad.entries_lost)', 'ledgerRepair.fastForward'],
    async leave(bench) {
      const pad = await written(bench);
      await bench.redis.rpop(pad.keys.entries, 2);
      return async () => {
        const times = await reported(bench, pad, 'scratchpad.entries_lost', { from: 2, to: 3 });
        return [
          ...unless(times === 1, `it is reported ${times} times`),
          ...unless((await elementsOf(bench, pad)).slice(1).join() === 'null,null', 'the lost places are not kept'),
        ];
      };
    },
  },
  {
    name: 'a ledger whose entries have moved',
    effects: ['ledgerRepair.reorder'],
    async leave(bench) {
      const pad = await written(bench);
      const before = await elementsOf(bench, pad);
      const [one = '', , three = ''] = await bench.redis.lrange(pad.keys.entries, 1, 3);
      await bench.redis.lset(pad.keys.entries, 1, three);
      await bench.redis.lset(pad.keys.entries, 3, one);
      return async () => unless((await elementsOf(bench, pad)).join() === before.join(), 'they stand elsewhere');
    },
  },
  {
    name: 'a pad whose keys are gone',
    effects: ['eventStore.append(scratchpad.entries_lost)', 'padKeys.create'],
    async leave(bench) {
      const pad = await written(bench);
      await bench.redis.del(pad.keys.content, pad.keys.entries);
      return async () => {
        const times = await reported(bench, pad, 'scratchpad.entries_lost', { from: 1, to: 3 });
        return [
          ...unless(times === 1, `it is reported ${times} times`),
          ...unless((await keysOf(bench, pad)).length === 2, 'it has no keys'),
        ];
      };
    },
  },
  {
    name: 'credentials whose enrollments are committed',
    effects: ['credentialVault.activate', 'eventStore.append(credential.rotated)'],
    async leave({ admin, log }) {
      const { id: ownerId, caller } = await newPerson(admin, 'Ada');
      const enrolled: string[] = [];
      for (const value of ['sk-1', 'sk-2']) {
        const body = {
          harness: 'native',
          name: 'Scout',
          model: 'anthropic/m',
          provider: 'anthropic',
          credential: { mode: 'intake', type: 'api_key', value },
        };
        const { agent } = await caller.done<{ agent: { id: string } }>('POST', '/v1/agents/enroll', body);
        enrolled.push(agent.id);
      }
      return async () => {
        const rotations = await log.readStream(`credential-${credentialIdOf(ownerId, 'anthropic')}`);
        const by = rotations.map(({ data }) => data['agentId']).join();
        return unless(by === enrolled[1], `they are asked to be rotated by '${by}'`);
      };
    },
  },
  {
    name: 'a slot whose pad was not made',
    effects: ['eventStore.append(scratchpad.created)', 'padKeys.create'],
    async leave(bench) {
      const { id: ownerId, caller } = await newPerson(bench.admin, 'Ada');
      const threadId = await newThread(caller);
      const pad = { ownerId, scratchpadId: newId('scratchpad', new Date()) };
      await tellOfThread(bench, threadId, 'thread.scratchpad_attached', pad.scratchpadId);
      return async () => {
        const made = await bench.log.readStream(`scratchpad-${pad.scratchpadId}`);
        return [
          ...unless(made.length === 1, `its stream has ${made.length} events`),
          ...unless((await keysOf(bench, pad)).length === 2, 'it has no keys'),
        ];
      };
    },
  },
  {
    name: 'a pad that its thread let go of',
    effects: ['eventStore.append(scratchpad.deleted)', ...purging],
    async leave(bench) {
      const pad = await written(bench);
      await tellOfThread(bench, pad.threadId, 'thread.scratchpad_detached', pad.scratchpadId);
      return () => gone(bench, pad);
    },
  },
  {
    name: 'keys of a deleted pad that have come back',
    effects: purging,
    async leave(bench) {
      const pad = await written(bench);
      await pad.caller.done('DELETE', `/v1/scratchpads/${pad.scratchpadId}`);
      await bench.working.keys.create(pad, new Date().toISOString());
      return () => gone(bench, pad);
    },
  },
];
