import { randomUUID } from 'node:crypto';
import { newId } from '../../src/application/kernel/ids.js';
import { entryText } from '../../src/infrastructure/redis/scratchpad-store/entry-form.js';
import { ownRedis, type OwnRedis } from '../support/own-redis.js';
import { startStack, type Member, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';

let redis: OwnRedis;
let stack: Stack;
let ada: Member;
beforeAll(async () => {
  redis = await ownRedis();
  stack = await startStack({ ownRedisUrl: redis.url });
  ada = await stack.user('Ada');
});
afterAll(async () => {
  await stack.stop();
  await redis.remove();
});

interface Listed {
  readonly id: string;
  readonly index: number;
  readonly content: string;
}

async function newPad(): Promise<{ readonly id: string; readonly threadId: string }> {
  const thread = await ada.post('/v1/threads', { title: 'Plan' });
  const pad = await ada.post('/v1/scratchpads', { threadId: (thread.data as { id: string }).id });
  expect(pad.status).toBe(201);
  return pad.data as { id: string; threadId: string };
}

const entriesOf = (id: string) => `/v1/scratchpads/${id}/entries`;
const append = (id: string, content: string, idempotencyKey = randomUUID()) =>
  ada.post(entriesOf(id), { content }, { 'idempotency-key': idempotencyKey });

/** Appends, as callers do: again under the same key until it is answered. */
const surelyAppend = (id: string, content: string) => {
  const key = randomUUID();
  return until(async () => {
    const reply = await append(id, content, key);
    return reply.status === 201 ? (reply.data as Listed) : undefined;
  });
};

async function filled(count: number): Promise<string> {
  const { id } = await newPad();
  for (let n = 1; n <= count; n += 1) expect((await append(id, `entry ${n}`)).status).toBe(201);
  return id;
}

const list = async (id: string) => {
  const { body } = await ada.get(`${entriesOf(id)}?limit=100`);
  return body as unknown as { data: Listed[]; page: { lost?: { from: number; to: number }[] } }; // as scratchpad.entry.list declares
};
const verify = async (id: string) => (await ada.get(`/v1/scratchpads/${id}/verify`)).data as Record<string, unknown>;
const untilVerified = (id: string, wanted: Readonly<Record<string, unknown>>) =>
  until(async () => {
    const found = await verify(id);
    return Object.entries(wanted).every(([name, value]) => found[name] === value) ? found : undefined;
  }, 30_000);
const countOf = async (id: string) => (await ada.get(`/v1/scratchpads/${id}`)).data as { entryCount: number };
const listKey = (id: string) => `scratchpad:${ada.userId}:${id}:entries`;

/** Bytes that Redis has written to its append-only file. */
const written = async (): Promise<number> =>
  Number(/^aof_current_size:(\d+)/m.exec(await stack.redis.info('persistence'))?.[1]);

/** Kills Redis, does something to it, and waits until the product has found it again. */
async function restarted(meanwhile: () => Promise<void> = () => redis.kill()): Promise<void> {
  await meanwhile();
  await redis.start();
  await until(async () => ((await fetch(`${stack.url}/readyz`)).status === 200 ? true : undefined));
}

describe('a ledger over REST', () => {
  it('is whole, and says so', async () => {
    const id = await filled(3);
    await ada.put(`/v1/scratchpads/${id}/content`, { content: 'the plan' });
    expect(await verify(id)).toMatchObject({
      ok: true,
      entries: 3,
      audited: 3,
      unaudited: 0,
      repeated: 0,
      lost: [],
      mismatches: 0,
      mismatched: [],
      contentRevision: 1,
      contentSha256Matches: true,
    });
  });

  it('is found out when somebody has changed a word of it', async () => {
    const id = await filled(3);
    const kept = JSON.parse((await stack.redis.lindex(listKey(id), 2)) ?? '') as unknown[];
    await stack.redis.lset(listKey(id), 2, JSON.stringify(kept.with(2, 'forged')));
    expect(await verify(id)).toMatchObject({ ok: false, audited: 2, mismatches: 1, mismatched: [{ index: 2 }] });
  });

  it('has an entry audited whose writer died right after the push', async () => {
    const id = await filled(2);
    const died = {
      id: newId('entry', new Date()),
      kind: 'note',
      content: 'last words',
      fields: {},
      author: { type: 'key', id: 'key_1' },
      bytes: 10,
      at: new Date().toISOString(),
      sha256: 'b3b5ef1ebd0b0ea7b4a50b0b4f7ea7c7',
      correlationId: randomUUID(),
    };
    await stack.redis.rpush(listKey(id), entryText(died));
    await stack.redis.sadd('scratchpads:touched', `${ada.userId}:${id}`);
    await untilVerified(id, { unaudited: 0, entries: 3 });
    await until(async () => ((await countOf(id)).entryCount === 3 ? true : undefined));
    const { text } = await ada.get(`/v1/audit/export?stream=scratchpad_ledger-${id}`);
    expect(text).toContain(died.id);
    expect(text).not.toContain('last words');
  });

  it('keeps fifty of fifty entries that are appended at once through two processes', async () => {
    const other = await stack.another('api');
    const elsewhere = stack.client(ada.key, other.url);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await newPad();
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, n) => (n % 2 ? ada : elsewhere).post(entriesOf(id), { content: `entry ${n}` })),
      );
      expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(201));
      const { data } = await list(id);
      expect(data.map(({ index }) => index)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
      expect(new Set(data.map(({ content }) => content)).size).toBe(50);
      expect(await verify(id)).toMatchObject({ ok: true, entries: 50 });
    }
    await other.stop();
  });

  it('takes a request once that two processes are sent at once', async () => {
    const other = await stack.another('api');
    const elsewhere = stack.client(ada.key, other.url);
    const { id } = await newPad();
    const key = { 'idempotency-key': randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? ada : elsewhere).post(entriesOf(id), { content: 'once' }, key)),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(replies.filter(({ body }) => body['replayed'] === true)).toHaveLength(9);
    expect((await list(id)).data).toHaveLength(1);
    await other.stop();
  });
});

describe('a Redis that was emptied while it ran', () => {
  it('makes no index come twice, and no list keep silent', async () => {
    const id = await filled(4);
    await ada.put(`/v1/scratchpads/${id}/content`, { content: 'the plan' });
    await stack.redis.flushall();
    const indexes = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => (await surelyAppend(id, `new ${n}`)).index),
    );
    expect(indexes.sort((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
    const { data, page } = await list(id);
    expect(data.map(({ index }) => index)).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
    expect(page.lost).toEqual([{ from: 1, to: 4 }]);
    const view = (await ada.get(`/v1/scratchpads/${id}/view`)).data as { text: string };
    expect(view.text).toContain('(entries 1-4 were lost)\n[5] new');
    expect(view.text).toContain('the latest content was lost');
    expect(await verify(id)).toMatchObject({ ok: false, entries: 8, audited: 8, lost: [{ from: 1, to: 4 }] });
    await until(async () => ((await countOf(id)).entryCount === 8 ? true : undefined));
  });
});

describe('a Redis that was killed', () => {
  it('has lost nothing that it acknowledged, and nothing is said to be lost', async () => {
    const id = await filled(3);
    await restarted();
    expect(await surelyAppend(id, 'after')).toMatchObject({ index: 4 });
    expect((await list(id)).page.lost).toBeUndefined();
    expect(await verify(id)).toMatchObject({ ok: true, entries: 4 });
  });

  it('and came back without its tail says what is gone, and goes on with the next index', async () => {
    const id = await filled(5);
    const size = await written();
    for (let n = 6; n <= 10; n += 1) await surelyAppend(id, `entry ${n}`);
    await restarted(async () => redis.loseTail((await written()) - size));
    expect(await surelyAppend(id, 'after')).toMatchObject({ index: 11 });
    const { data, page } = await list(id);
    const lost = page.lost?.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, n) => from + n)) ?? [];
    expect(lost.length).toBeGreaterThan(0);
    expect([...data.map(({ index }) => index), ...lost].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 11 }, (_, n) => n + 1),
    );
    expect(await verify(id)).toMatchObject({ ok: false, lost: page.lost });
  });

  it('and came back with a ledger that had been cleared shows none of it', async () => {
    const id = await filled(5);
    const size = await written();
    await ada.delete(entriesOf(id));
    await restarted(async () => redis.loseTail((await written()) - size));
    expect((await list(id)).data).toEqual([]);
    // The ledger that the clear itself began would name the clear.
    expect(await stack.redis.lindex(listKey(id), 0)).not.toContain('"by"');
    expect(await surelyAppend(id, 'after')).toMatchObject({ index: 1 });
    expect(await verify(id)).toMatchObject({ ok: true, entries: 1 });
  });

  it('and came back with a scratchpad that had been deleted does not keep it', async () => {
    const { id } = await newPad();
    await append(id, 'secret');
    const size = await written();
    await ada.delete(`/v1/scratchpads/${id}`);
    await restarted(async () => redis.loseTail((await written()) - size));
    expect((await append(id, 'late')).code).toBe('not_found');
    await until(async () => ((await stack.redis.keys(`scratchpad:*:${id}:*`)).length === 0 ? true : undefined), 30_000);
  });
});

describe('the auditor of a worker that starts', () => {
  it('takes away what belongs to dead pads and finishes what the dead left half done', async () => {
    const [dead, half] = [await filled(1), await filled(2)];
    await ada.delete(`/v1/scratchpads/${dead}`);
    await stack.redis.hset(`scratchpad:${ada.userId}:${dead}:content`, { revision: '0', at: '', body: 'undead' });
    await stack.redis.hset(`scratchpad:${ada.userId}:${half}:content`, 'clears', 'c1');
    await stack.redis.rename(listKey(half), `scratchpad:${ada.userId}:${half}:cleared:c1`);
    await stack.redis.rpush(listKey(half), '{"form":1,"clears":1,"by":"c1","removed":2}');
    await stack.redis.sadd('scratchpads:touched', `${ada.userId}:${half}`);
    await restarted();
    await until(async () => ((await stack.redis.keys(`*:${dead}:*`)).length === 0 ? true : undefined), 30_000);
    await until(async () => ((await stack.redis.keys(`*:${half}:*`)).length === 2 ? true : undefined), 30_000);
    const { text } = await ada.get(`/v1/audit/export?stream=scratchpad_ledger-${half}`);
    expect(text).toContain('scratchpad.entries_cleared');
    expect(await verify(half)).toMatchObject({ ok: true, entries: 0 });
  });
});
