import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import type { Caller } from './rig/caller.js';
import { redisKilled } from './rig/faults.js';
import { History, repeated } from './rig/history.js';
import { audited, listed } from './rig/ledger.js';
import { newPad, newPerson } from './rig/people.js';
import { sizeOf, withSeed, type Random } from './rig/random.js';
import { startSite, type Placed, type Site } from './rig/site.js';
import { startStorm, type Faults } from './rig/storm.js';

/** Two thirds with kills, the rest with cuts. */
const deletes = sizeOf('CHAOS_DELETES', 60, 2_000);
const atOnce = 12;
const writersEach = 2;

let site: Site;
let worker: Placed;
let redis: Redis;
beforeAll(async () => {
  site = await startSite();
  worker = await site.program('all');
  redis = new Redis(site.redis.url);
  redis.on('error', () => undefined); // It is killed on purpose.
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  await site.remove();
});

/** Makes a pad, lets some write to it, deletes it in the midst of that by its own id or with its thread. */
async function lifeOf(caller: Caller, history: History, random: Random): Promise<string> {
  const pad = await newPad(caller);
  const path = random.next() < 0.7 ? `/v1/scratchpads/${pad.id}` : `/v1/threads/${pad.threadId}`;
  const patience = random.between(0, 150);
  const write = async (writer: number) => {
    for (let n = 0; ; n += 1) {
      const content = `writer ${writer}, entry ${n}`;
      const answer = await caller.once({
        method: 'POST',
        path: `/v1/scratchpads/${pad.id}/entries`,
        body: { content },
      });
      if (answer.status === 201) history.appended(pad.id, content, answer);
      // It goes on a little after the answer that there is no such pad.
      const deleted = history.deletions.get(pad.id);
      if (answer.status === 404 && deleted !== undefined && answer.begun > deleted + 300) return;
      if (answer.status !== 201) await pause(5);
    }
  };
  const remove = async () => {
    await pause(patience);
    history.deleted(pad.id, await caller.surely({ method: 'DELETE', path }));
  };
  await Promise.all([...Array.from({ length: writersEach }, (_, n) => write(n)), remove()]);
  return pad.id;
}

const keysOf = async (ids: ReadonlySet<string>): Promise<readonly string[]> => {
  const keys = await redis.keys('*scratchpad:*').catch(() => ['not asked']);
  return keys.filter((key) => key === 'not asked' || ids.has(key.split(':')[2] ?? ''));
};

async function manyDeletes(count: number, faults: Faults, caller: Caller, random: Random): Promise<History> {
  const history = new History();
  const storm = startStorm(random, faults, [300, 1_200]);
  let left = count;
  const keepOn = async () => {
    while ((left -= 1) >= 0) await lifeOf(caller, history, random);
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, keepOn));
  } finally {
    await storm.end();
  }
  expect(history.deletions.size).toBe(count);
  return history;
}

const api = () => site.admin(worker);

describe('deletes under live appends', () => {
  it(
    'leave no key, acknowledge nothing after themselves and spare the living, though Redis is killed',
    () =>
      withSeed(async (random) => {
        const { caller } = await newPerson(api(), 'Ada');
        const kept = await Promise.all(Array.from({ length: 4 }, () => newPad(caller)));
        for (const { id } of kept) await caller.done('POST', `/v1/scratchpads/${id}/entries`, { content: 'kept' });
        const history = await manyDeletes(Math.ceil((deletes * 2) / 3), redisKilled(site), caller, random);
        expect(history.lateAcknowledgements()).toEqual([]);
        await eventually(
          () => keysOf(new Set(history.deletions.keys())),
          (keys) => keys.length === 0,
          60_000,
        );
        for (const { id } of kept) expect((await listed(caller, id)).map(({ content }) => content)).toEqual(['kept']);
        expect(site.exits()).toEqual([]);
      }),
    sizeOf('CHAOS_MINUTES', 2, 60) * 60_000,
  );

  it(
    'stay deleted, and what the living lost is reported, though Redis loses the tail of what it had written',
    () =>
      withSeed(async (random) => {
        const { caller } = await newPerson(api(), 'Grace');
        const kept = await newPad(caller);
        const path = `/v1/scratchpads/${kept.id}/entries`;
        const living = new History();
        let cuts = 0;
        const write = async (content: string, idempotencyKey: string) => {
          const answer = await caller.surely({ method: 'POST', path, body: { content } }, { idempotencyKey });
          living.appended(kept.id, content, answer);
          return (answer.data as { id: string }).id; // as scratchpad.entry.append declares
        };
        const sentAgain = new Set<string>();
        const tailLost: Faults = {
          async 'redis: tail lost'() {
            const sent = Array.from({ length: 5 }, (_, n) => [`cut ${cuts}, entry ${n}`, randomUUID()] as const);
            for (const [content, key] of sent) await write(content, key);
            cuts += 1;
            await site.redis.loseTail(random.between(1, 4_000));
            await site.redis.start();
            // A writer with the answer that an entry is kept may send it again all the same, and then it must be.
            sentAgain.clear();
            for (const [content, key] of sent) if (random.next() < 0.5) sentAgain.add(await write(content, key));
          },
        };
        const history = await manyDeletes(Math.floor(deletes / 3), tailLost, caller, random);
        expect(cuts).toBeGreaterThan(0);
        expect(history.lateAcknowledgements()).toEqual([]);
        await eventually(
          () => keysOf(new Set(history.deletions.keys())),
          (keys) => keys.length === 0,
          60_000,
        );
        await eventually(
          () => unrecorded(caller, kept.id, living),
          (faults) => faults.length === 0,
          60_000,
        );
        // The auditor has looked at all of them by now.
        await eventually(
          async () => (await caller.done<{ unaudited: number }>('GET', `/v1/scratchpads/${kept.id}/verify`)).unaudited,
          (unaudited) => unaudited === 0,
          60_000,
        );
        const there = new Set((await listed(caller, kept.id)).map(({ id }) => id));
        expect([...sentAgain].filter((id) => !there.has(id))).toEqual([]);
        expect(site.exits()).toEqual([]);
      }),
    sizeOf('CHAOS_MINUTES', 2, 60) * 60_000,
  );

  it('stay deleted when Redis, started again without its last writes, has their keys once more', async () => {
    const { caller } = await newPerson(api(), 'Mary');
    for (let round = 0; round < sizeOf('CHAOS_RETURNS', 4, 40); round += 1) {
      const pad = await newPad(caller);
      const call = { method: 'POST', path: `/v1/scratchpads/${pad.id}/entries`, body: { content: 'words' } };
      await caller.surely(call);
      const before = site.redis.written();
      await caller.surely({ method: 'DELETE', path: `/v1/scratchpads/${pad.id}` });
      site.proxies.redis.refuse();
      await site.redis.loseTail(site.redis.written() - before);
      await site.redis.start();
      await eventually(
        () => keysOf(new Set([pad.id])),
        (keys) => keys.length === 2,
      );
      site.proxies.redis.pass();
      expect((await caller.surely(call)).status).toBe(404);
      await eventually(
        () => keysOf(new Set([pad.id])),
        (keys) => keys.length === 0,
        60_000,
      );
    }
  }, 240_000);
});

/** Acknowledged entries of a living pad that are neither there nor asked to be lost; an index that two were given in silence. */
async function unrecorded(caller: Caller, scratchpadId: string, { appends }: History): Promise<readonly string[]> {
  const there = new Map((await listed(caller, scratchpadId)).map((entry) => [entry.id, entry]));
  const lost = (await audited(caller, `scratchpad_ledger-${scratchpadId}`))
    .filter(({ type }) => type === 'scratchpad.entries_lost')
    .map(({ data }) => ({ from: Number(data['from']), to: Number(data['to']) }));
  const isLost = (index: number) => lost.some(({ from, to }) => from <= index && index <= to);
  return [
    ...repeated([...there.values()]),
    ...appends
      .filter(({ id, index }) => there.get(id)?.index !== index && !isLost(index))
      .map(({ content, index }) => `${content} (${index}) is neither there nor asked to be lost`),
  ];
}
