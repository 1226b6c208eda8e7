import { randomUUID } from 'node:crypto';
import { countPadKeys } from '../../src/infrastructure/redis/count-keys.js';
import { startStack, type Member, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';

type Pad = { readonly id: string; readonly threadId: string };

let stack: Stack;
let ada: Member;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
});
afterAll(() => stack.stop());

async function newPad(owner: Member = ada): Promise<Pad> {
  const thread = await owner.post('/v1/threads', { title: 'Plan' });
  const pad = await owner.post('/v1/scratchpads', { threadId: (thread.data as Pad).id });
  expect(pad.status).toBe(201);
  return pad.data as Pad;
}

const keysOf = (id: string) => countPadKeys(stack.backends.redisUrl, id);

describe('a scratchpad over REST', () => {
  it('is shown by get, list and its thread as soon as it is made', async () => {
    const pad = await newPad();
    const [got, resolved, listed, thread] = await Promise.all([
      ada.get(`/v1/scratchpads/${pad.id}`),
      ada.get(`/v1/threads/${pad.threadId}/scratchpad`),
      ada.get('/v1/scratchpads'),
      ada.get(`/v1/threads/${pad.threadId}`),
    ]);
    expect(got.data).toMatchObject({
      id: pad.id,
      threadId: pad.threadId,
      ownerId: ada.userId,
      contentRevision: 0,
      entryCount: 0,
    });
    expect(resolved.data).toEqual(got.data);
    expect((listed.data as Pad[])[0]).toEqual(got.data);
    expect(thread.data).toMatchObject({ scratchpadId: pad.id });
  });

  it('keeps exactly two keys in Redis, with no TTL, and no word anywhere else', async () => {
    const pad = await newPad();
    const canary = `canary-${randomUUID()}`;
    await ada.put(`/v1/scratchpads/${pad.id}/content`, { content: canary });
    await ada.post(`/v1/scratchpads/${pad.id}/entries`, { content: canary });
    const keys = await stack.redis.keys(`scratchpad:*:${pad.id}:*`);
    expect(keys.sort()).toEqual([
      `scratchpad:${ada.userId}:${pad.id}:content`,
      `scratchpad:${ada.userId}:${pad.id}:entries`,
    ]);
    expect(await Promise.all(keys.map((key) => stack.redis.ttl(key)))).toEqual([-1, -1]);
    const events = await ada.get(`/v1/audit/export?stream=scratchpad-${pad.id}`);
    const ledger = await ada.get(`/v1/audit/export?stream=scratchpad_ledger-${pad.id}`);
    expect(events.text).toContain('scratchpad.content_set');
    expect(events.text + ledger.text).not.toContain(canary);
  });

  it('keeps all of 64 entries appended at once by eight keys, in one order on every read, content untouched', async () => {
    const pad = await newPad();
    await ada.put(`/v1/scratchpads/${pad.id}/content`, { content: 'the plan' });
    const workers = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const made = await ada.post('/v1/keys', {
          name: `worker ${n}`,
          scopes: ['scratchpads:write', 'scratchpads:read'],
        });
        const { id, key } = made.data as { id: string; key: string };
        return { id, client: stack.client(key) };
      }),
    );
    const appended = await Promise.all(
      Array.from({ length: 64 }, (_, n) => {
        const { client } = workers[n % 8] ?? { client: ada };
        return client.post(`/v1/scratchpads/${pad.id}/entries`, { content: `entry ${n}` });
      }),
    );
    expect(appended.map((reply) => reply.status)).toEqual(Array(64).fill(201));
    const read = async () =>
      (await ada.get(`/v1/scratchpads/${pad.id}/entries?limit=100`)).data as {
        id: string;
        index: number;
        content: string;
        author: { id: string };
      }[];
    const [first, ...others] = await Promise.all(Array.from({ length: 10 }, read));
    expect(first?.map(({ index }) => index)).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
    expect(new Set(first?.map(({ content }) => content)).size).toBe(64);
    expect(new Set(first?.map(({ author }) => author.id))).toEqual(new Set(workers.map(({ id }) => id)));
    for (const other of others) expect(other).toEqual(first);
    expect((await ada.get(`/v1/scratchpads/${pad.id}/content`)).data).toMatchObject({
      content: 'the plan',
      revision: 1,
    });
    const counted = await until(async () => {
      const { data } = await ada.get(`/v1/scratchpads/${pad.id}`);
      return (data as { entryCount: number }).entryCount === 64 ? data : undefined;
    });
    expect(counted).toMatchObject({ entryCount: 64 });
  });

  it('does not let updates of content and appends disturb each other', async () => {
    const pad = await newPad();
    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) =>
        ada.put(`/v1/scratchpads/${pad.id}/content`, { content: `version ${n}` }),
      ),
      ...Array.from({ length: 20 }, (_, n) => ada.post(`/v1/scratchpads/${pad.id}/entries`, { content: `entry ${n}` })),
    ]);
    expect((await ada.get(`/v1/scratchpads/${pad.id}/content`)).data).toMatchObject({ revision: 20 });
    expect((await ada.get(`/v1/scratchpads/${pad.id}/entries?limit=100`)).data).toHaveLength(20);
  });

  it('is one per thread, also when two processes race for it', async () => {
    const other = await stack.another('api');
    const threadId = ((await ada.post('/v1/threads')).data as Pad).id;
    const elsewhere = stack.client(ada.key, other.url);
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, n) => (n % 2 ? ada : elsewhere).post('/v1/scratchpads', { threadId })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ code }) => code === 'conflict')).toHaveLength(15);
    await other.stop();
  });

  it('reads entries page by page without a gap or a repeat, both ways', async () => {
    const pad = await newPad();
    for (let n = 1; n <= 25; n += 1) await ada.post(`/v1/scratchpads/${pad.id}/entries`, { content: `${n}` });
    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page = await ada.get(
          `/v1/scratchpads/${pad.id}/entries?limit=10&order=${order}${cursor && `&cursor=${cursor}`}`,
        );
        seen.push(...(page.data as { content: string }[]).map(({ content }) => content));
        cursor = (page.body['page'] as { nextCursor: string | null }).nextCursor;
      }
      const expected = Array.from({ length: 25 }, (_, n) => `${n + 1}`);
      expect(seen).toEqual(order === 'asc' ? expected : expected.reverse());
    }
  });

  it('answers If-Match with the revision it has', async () => {
    const pad = await newPad();
    const path = `/v1/scratchpads/${pad.id}/content`;
    const set = await ada.put(path, { content: 'one' }, { 'if-match': '"r0"' });
    expect(set.headers.get('etag')).toBe('"r1"');
    expect((await ada.get(path)).headers.get('etag')).toBe('"r1"');
    const stale = await ada.put(path, { content: 'two' }, { 'if-match': '"r0"' });
    expect([stale.status, stale.code]).toEqual([409, 'conflict']);
    expect(stale.text).toContain('r1');
  });
});

describe('a deleted scratchpad over REST', () => {
  it('leaves no key in Redis, no row, and an event that it was purged', async () => {
    const pad = await newPad();
    await ada.post(`/v1/scratchpads/${pad.id}/entries`, { content: 'soon gone' });
    expect((await ada.delete(`/v1/scratchpads/${pad.id}`)).data).toEqual({ id: pad.id, deleted: true });
    expect(await keysOf(pad.id)).toBe(0);
    expect((await ada.get(`/v1/scratchpads/${pad.id}`)).code).toBe('not_found');
    expect((await ada.get(`/v1/threads/${pad.threadId}`)).data).toMatchObject({ scratchpadId: null });
    await until(async () => {
      const { data } = await ada.get(`/v1/audit/events?stream=scratchpad-${pad.id}&type=scratchpad.deleted`);
      return (data as unknown[]).length === 1 || undefined;
    });
  });

  it('goes with its thread', async () => {
    const pad = await newPad();
    await ada.delete(`/v1/threads/${pad.threadId}`);
    expect(await keysOf(pad.id)).toBe(0);
    expect((await ada.get(`/v1/scratchpads/${pad.id}`)).code).toBe('not_found');
    expect((await ada.get(`/v1/threads/${pad.threadId}`)).code).toBe('not_found');
  });

  it('stays dead under a storm of appends: nothing acknowledged after its delete, no key left', async () => {
    for (let round = 0; round < 10; round += 1) {
      const pad = await newPad();
      let deletedAt = Infinity;
      const late: string[] = [];
      const writer = async (n: number) => {
        for (let k = 0; k < 10; k += 1) {
          const begun = performance.now();
          const reply = await ada.post(`/v1/scratchpads/${pad.id}/entries`, { content: `${n}.${k}` });
          if (begun > deletedAt && reply.status === 201) late.push(`${n}.${k}`);
        }
      };
      const remover = async () => {
        await ada.delete(`/v1/scratchpads/${pad.id}`);
        deletedAt = performance.now();
      };
      await Promise.all([...Array.from({ length: 6 }, (_, n) => writer(n)), remover()]);
      expect(late).toEqual([]);
      expect(await keysOf(pad.id)).toBe(0);
    }
  });
});

describe('an erased user', () => {
  it('is gone with threads, scratchpads, keys and every readable word; the audit trail stays', async () => {
    const canary = `Canary ${randomUUID()}`;
    const eve = await stack.user(canary);
    const pad = await newPad(eve);
    await eve.patch(`/v1/threads/${pad.threadId}`, { title: canary, metadata: { note: canary } });
    await eve.post(`/v1/threads/${pad.threadId}/messages`, { role: 'user', content: canary });
    await eve.put(`/v1/scratchpads/${pad.id}/content`, { content: canary });
    expect((await stack.admin.delete(`/v1/users/${eve.userId}`)).data).toEqual({ id: eve.userId, deleted: true });

    expect(await stack.redis.keys(`scratchpad:${eve.userId}:*`)).toEqual([]);
    await until(async () => ((await eve.get('/v1/me')).status === 401 ? true : undefined));
    expect((await stack.admin.get(`/v1/users/${eve.userId}`)).code).toBe('not_found');
    const trail = await stack.admin.get(`/v1/audit/export?tenant=${eve.userId}`);
    expect(trail.text).toContain('user.erased');
    expect(trail.text).not.toContain(canary);
    const { data: rebuilt } = await stack.admin.post('/v1/projections/resources/rebuild');
    expect(rebuilt).toMatchObject({ name: 'resources' });
    expect((await stack.admin.get(`/v1/users/${eve.userId}`)).code).toBe('not_found');
  });

  it('leaves everyone else as they were', async () => {
    const pad = await newPad();
    await ada.put(`/v1/scratchpads/${pad.id}/content`, { content: 'kept' });
    const mallory = await stack.user('Mallory');
    await newPad(mallory);
    await mallory.delete(`/v1/users/${mallory.userId}`);
    expect((await ada.get(`/v1/scratchpads/${pad.id}/content`)).data).toMatchObject({ content: 'kept' });
    expect(await keysOf(pad.id)).toBe(2);
  });
});
