import { randomUUID } from 'node:crypto';
import { startStack, type Stack } from '../support/stack.js';

type Thread = { readonly id: string; readonly title: string | null };

let stack: Stack;
let ada: Awaited<ReturnType<Stack['user']>>;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
});
afterAll(() => stack.stop());

const pageOf = (reply: Awaited<ReturnType<typeof ada.get>>) => reply.body['page'] as { nextCursor: string | null };

describe('threads', () => {
  it('are made, read, changed and deleted, each answer showing the last', async () => {
    const made = await ada.post('/v1/threads', { title: 'Plan', metadata: { team: 'a' } });
    expect(made.status).toBe(201);
    const { id } = made.data as Thread;
    expect((await ada.get(`/v1/threads/${id}`)).data).toEqual(made.data);
    const changed = await ada.patch(`/v1/threads/${id}`, { title: 'Better plan' });
    expect(changed.data).toMatchObject({ title: 'Better plan', metadata: { team: 'a' } });
    expect((await ada.get(`/v1/threads/${id}`)).data).toEqual(changed.data);
    expect((await ada.delete(`/v1/threads/${id}`)).data).toEqual({ id, deleted: true });
    expect((await ada.get(`/v1/threads/${id}`)).code).toBe('not_found');
    expect((await ada.patch(`/v1/threads/${id}`, { title: 'x' })).code).toBe('not_found');
  });

  it('keep every change, however many are made at once and however far behind the read model is', async () => {
    const { data } = await ada.post('/v1/threads', { title: 'Plan' }, { prefer: 'respond-async' });
    const path = `/v1/threads/${(data as Thread).id}`;
    for (let round = 0; round < 20; round += 1) {
      const [title, metadata] = [`title ${round}`, { round: `${round}` }];
      const replies = await Promise.all([ada.patch(path, { title }), ada.patch(path, { metadata })]);
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect((await ada.get(path)).data).toMatchObject({ title, metadata });
    }
  });

  it('page without a gap or a repeat, although all of them were made at once', async () => {
    const bob = await stack.user('Bob');
    const made = await Promise.all(Array.from({ length: 50 }, (_, n) => bob.post('/v1/threads', { title: `${n}` })));
    const ids = new Set(made.map(({ data }) => (data as Thread).id));
    const seen: string[] = [];
    let cursor: string | null = '';
    let pages = 0;
    while (cursor !== null) {
      const page = await bob.get(`/v1/threads?limit=10${cursor && `&cursor=${cursor}`}`);
      seen.push(...(page.data as Thread[]).map(({ id }) => id));
      cursor = pageOf(page).nextCursor;
      pages += 1;
    }
    expect(pages).toBe(5);
    expect(seen).toHaveLength(50);
    expect(new Set(seen)).toEqual(ids);
  });

  it("refuse another list's, another order's and another tenant's cursor", async () => {
    const bob = await stack.user('Bob');
    for (const member of [ada, bob]) for (const _ of [1, 2, 3]) await member.post('/v1/threads');
    const cursor = pageOf(await ada.get('/v1/threads?limit=1')).nextCursor ?? '';
    for (const [client, path] of [
      [ada, `/v1/threads?order=asc&cursor=${cursor}`],
      [ada, `/v1/scratchpads?cursor=${cursor}`],
      [bob, `/v1/threads?cursor=${cursor}`],
      [ada, `/v1/threads?cursor=nonsense`],
    ] as const) {
      expect((await client.get(path)).code).toBe('validation_failed');
    }
    expect((await ada.get(`/v1/threads?limit=1&cursor=${cursor}`)).status).toBe(200);
  });
});

describe('messages', () => {
  it('are numbered in the order of the thread, and listed', async () => {
    const { id } = (await ada.post('/v1/threads')).data as Thread;
    const path = `/v1/threads/${id}/messages`;
    await Promise.all(Array.from({ length: 10 }, (_, n) => ada.post(path, { role: 'user', content: `m${n}` })));
    const listed = (await ada.get(`${path}?order=asc`)).data as { index: number; id: string }[];
    expect(listed.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect((await ada.delete(`${path}/${listed[0]?.id ?? ''}`)).status).toBe(200);
    expect((await ada.delete(`${path}/${listed[0]?.id ?? ''}`)).code).toBe('not_found');
    expect((await ada.get(path)).data).toHaveLength(9);
  });

  it('are deleted however old or new they are', async () => {
    const { id } = (await ada.post('/v1/threads')).data as Thread;
    const path = `/v1/threads/${id}/messages`;
    const send = async (content: string) =>
      (await ada.post(path, { role: 'user', content }, { prefer: 'respond-async' })).data as { id: string };
    const oldest = await send('oldest');
    for (let n = 0; n < 40; n += 1) {
      const newest = await send(`${n}`);
      expect((await ada.delete(`${path}/${newest.id}`)).status).toBe(200);
    }
    expect((await ada.delete(`${path}/${oldest.id}`)).status).toBe(200);
    expect((await ada.delete(`${path}/${oldest.id}`)).code).toBe('not_found');
    expect((await ada.get(path)).data).toEqual([]);
  });

  it('cannot be appended to a deleted thread', async () => {
    const { id } = (await ada.post('/v1/threads')).data as Thread;
    await ada.delete(`/v1/threads/${id}`);
    expect((await ada.post(`/v1/threads/${id}/messages`, { role: 'user', content: 'late' })).code).toBe('not_found');
  });
});

describe('a position', () => {
  it('of a command makes a read on another process wait until it is shown', async () => {
    const other = await stack.another('api');
    const elsewhere = stack.client(ada.key, other.url);
    for (let round = 0; round < 20; round += 1) {
      const made = await ada.post('/v1/threads', { title: `round ${round}` }, { prefer: 'respond-async' });
      const position = made.headers.get('palimpsest-position') ?? '';
      const read = await elsewhere.get(`/v1/threads/${(made.data as Thread).id}`, {
        'palimpsest-min-position': position,
      });
      expect(read.data).toMatchObject({ title: `round ${round}` });
    }
    await other.stop();
  });

  it('that was never reached is answered with unavailable', async () => {
    const read = await ada.get('/v1/threads', { 'palimpsest-min-position': '9000000000000000000' });
    expect([read.status, read.code]).toEqual([503, 'unavailable']);
    expect(read.headers.get('retry-after')).toBe('1');
  });
});

describe('an idempotency key', () => {
  it('makes fifty submissions at two processes one command', async () => {
    const other = await stack.another('api');
    const elsewhere = stack.client(ada.key, other.url);
    const headers = { 'idempotency-key': randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 ? ada : elsewhere).post('/v1/threads', { title: 'once' }, headers)),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(new Set(replies.map(({ data }) => (data as Thread).id)).size).toBe(1);
    expect(replies.filter(({ body }) => body['replayed'] !== true)).toHaveLength(1);
    expect(replies.filter(({ headers: sent }) => sent.get('idempotency-replayed') === 'true')).toHaveLength(49);
    await other.stop();
  });
});
