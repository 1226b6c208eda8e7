import { Client } from 'pg';
import { openEvents, type ServerSent } from '../support/sse.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

let stack: Stack;
let ada: Member;
let bob: Member;
beforeAll(async () => {
  stack = await startStack();
  [ada, bob] = [await stack.user('Ada'), await stack.user('Bob')];
});
afterAll(() => stack.stop());

const idIn = (data: unknown): string => (data as { id: string }).id; // everything that is made has an id

async function newPad(owner: Member = ada): Promise<string> {
  const threadId = idIn((await owner.post('/v1/threads', { title: 'Whales' })).data);
  return idIn((await owner.post('/v1/scratchpads', { threadId })).data);
}

const pathOf = (pad: string, name: string) => `/v1/scratchpads/${pad}/${name}`;
const follow = (pad: string, url = stack.url, lastEventId = '') =>
  openEvents(`${url}${pathOf(pad, 'events')}`, ada.key, lastEventId === '' ? {} : { 'last-event-id': lastEventId });

describe('a team that follows one scratchpad', () => {
  it('sees every entry of 16 writers once, in one order, at two processes, through reconnects', async () => {
    const other = await stack.another('api');
    const pad = await newPad();
    const steady = await follow(pad, other.url);
    const writing = Array.from({ length: 16 }, async (_, writer) => {
      const client = stack.client(ada.key, writer % 2 === 0 ? stack.url : other.url);
      for (let n = 0; n < 12; n += 1) await client.post(pathOf(pad, 'entries'), { content: `${writer}/${n}` });
    });
    const patched: ServerSent[] = [];
    let lastId = '0';
    while (patched.length < 192) {
      const events = await follow(pad, patched.length % 2 === 0 ? stack.url : other.url, lastId);
      patched.push(...(await events.take(Math.min(13, 192 - patched.length))));
      lastId = patched.at(-1)?.id ?? '0';
      await events.close();
    }
    await Promise.all(writing);
    const whole = await steady.take(192);
    await steady.close();
    expect(patched).toEqual(whole);
    expect(new Set(whole.map(({ data }) => data['content'])).size).toBe(192);
    const ids = whole.map(({ id = '' }) => BigInt(id));
    expect(ids.every((id, place) => place === 0 || id > (ids[place - 1] ?? 0n))).toBe(true);
    await other.stop();
  });

  it('resumes deep inside a long ledger', async () => {
    const pad = await newPad();
    for (let n = 0; n < 40; n += 1) {
      await Promise.all(Array.from({ length: 20 }, () => ada.post(pathOf(pad, 'entries'), { content: 'entry' })));
    }
    const all = await follow(pad, stack.url, '1');
    const reported = await all.take(800);
    await all.close();
    for (const place of [0, 1, 399, 650, 798]) {
      const events = await follow(pad, stack.url, reported[place]?.id);
      expect((await events.take(1))[0]?.id).toBe(reported[place + 1]?.id);
      await events.close();
    }
  });
});

interface Done {
  readonly type: string;
  readonly position: string;
  readonly author: { readonly type: string };
  readonly sha256?: string;
  readonly [member: string]: unknown;
}

describe('the history of a scratchpad', () => {
  it('says who did what, when, with digests and without words, in the order of the log', async () => {
    const pad = await newPad();
    await ada.put(pathOf(pad, 'content'), { content: 'a secret plan' });
    const entry = await ada.post(pathOf(pad, 'entries'), { content: 'a secret finding', kind: 'unverified' });
    await ada.delete(pathOf(pad, 'content'));
    await ada.delete(pathOf(pad, 'entries'));
    const { data, text } = await ada.get(`${pathOf(pad, 'history')}?order=asc`);
    const history = data as Done[];
    expect(history.map(({ type }) => type)).toEqual([
      'scratchpad.created',
      'scratchpad.content_set',
      'scratchpad.entry_appended',
      'scratchpad.content_cleared',
      'scratchpad.entries_cleared',
    ]);
    const { id: entryId, sha256, bytes } = entry.data as Record<string, unknown>;
    expect(history[2]).toMatchObject({ entryId, sha256, bytes, index: 1, kind: 'unverified', author: { type: 'key' } });
    expect(history[1]).toMatchObject({ revision: 1, bytes: 13 });
    expect(text).not.toContain('secret');
  });

  it('has the same positions as events and audit trail', async () => {
    const pad = await newPad();
    await ada.post(pathOf(pad, 'entries'), { content: 'one' });
    await ada.put(pathOf(pad, 'content'), { content: 'plan' });
    const events = await follow(pad, stack.url, '0');
    const reported = (await events.take(2)).map(({ id }) => id);
    await events.close();
    const history = (await ada.get(`${pathOf(pad, 'history')}?order=asc`)).data as Done[];
    expect(history.slice(1).map(({ position }) => position)).toEqual(reported);
    const trail = (await ada.get(`/v1/audit/events?stream=scratchpad_ledger-${pad}`)).data as Done[];
    expect(trail.map(({ position }) => position)).toEqual(reported.slice(0, 1));
  });

  it('pages without gap or repeat, newest first', async () => {
    const pad = await newPad();
    for (let n = 0; n < 6; n += 1) {
      await ada.post(pathOf(pad, 'entries'), { content: String(n) });
      await ada.put(pathOf(pad, 'content'), { content: String(n) });
    }
    const whole = (await ada.get(`${pathOf(pad, 'history')}?limit=100`)).data as Done[];
    const paged: Done[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await ada.get(`${pathOf(pad, 'history')}?limit=5${cursor && `&cursor=${cursor}`}`);
      paged.push(...(page.data as Done[]));
      cursor = (page.body as { page: { nextCursor: string | null } }).page.nextCursor;
    }
    expect(whole).toHaveLength(13);
    expect(paged).toEqual(whole);
  });

  it('is gone with the scratchpad; the audit trail keeps what was done', async () => {
    const pad = await newPad();
    await ada.post(pathOf(pad, 'entries'), { content: 'one' });
    await ada.delete(`/v1/scratchpads/${pad}`);
    expect((await ada.get(pathOf(pad, 'history'))).code).toBe('not_found');
    expect((await ada.get(`/v1/audit/events?stream=scratchpad_ledger-${pad}`)).data).toHaveLength(1);
  });
});

describe('following the audit trail', () => {
  const open = (key: string, query = '', lastEventId?: string) =>
    openEvents(
      `${stack.url}/v1/audit/events/live${query}`,
      key,
      lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
    );

  it("tells a tenant of their own events, as the list shows them, and of nobody else's", async () => {
    const events = await open(ada.key);
    await bob.post('/v1/threads', { title: 'his' });
    const threadId = idIn((await ada.post('/v1/threads', { title: 'hers' })).data);
    const [reported] = await events.take(1);
    await events.close();
    expect(reported).toMatchObject({ event: 'thread.created', data: { data: { title: 'hers', threadId } } });
    const [listed] = (await ada.get(`/v1/audit/events?stream=thread-${threadId}`)).data as unknown[];
    expect(reported?.data).toEqual(listed);
  });

  it('goes on after any event without gap or repeat', async () => {
    const listed = (await ada.get('/v1/audit/events?order=asc&limit=100')).data as Done[];
    for (const place of [0, 3, 7]) {
      const events = await open(ada.key, '', listed[place]?.position);
      const reported = await events.take(5);
      await events.close();
      expect(reported.map(({ id }) => id)).toEqual(listed.slice(place + 1, place + 6).map(({ position }) => position));
    }
  });

  it('keeps to its filters', async () => {
    const events = await open(ada.key, '?type=thread.deleted', '0');
    const threadId = idIn((await ada.post('/v1/threads', {})).data);
    await ada.delete(`/v1/threads/${threadId}`);
    expect((await events.take(1))[0]).toMatchObject({ event: 'thread.deleted', data: { data: { threadId } } });
    await events.close();
  });

  it('tells an auditor of every tenant, without personal text', async () => {
    const made = await stack.admin.post('/v1/users', { name: 'Audrey', role: 'auditor' });
    const auditor = (made.data as { key: { key: string } }).key.key;
    const events = await open(auditor, '?type=thread.created');
    await ada.post('/v1/threads', { title: 'secret of Ada' });
    await bob.post('/v1/threads', { title: 'secret of Bob' });
    const reported = await events.take(2);
    await events.close();
    expect(reported.map(({ data }) => data['ownerId'])).toEqual([ada.userId, bob.userId]);
    expect(JSON.stringify(reported)).not.toContain('secret of');
  });

  it("is refused where it names another tenant's", async () =>
    expect((await ada.get(`/v1/audit/events/live?tenant=${bob.userId}`)).code).toBe('authorization_refused'));
});

describe('verifying the audit trail', () => {
  const verify = async (client: Pick<Member, 'get'>, query = '') =>
    (await client.get(`/v1/audit/verify${query}`)).data as Record<string, unknown>;

  it('finds an untouched chain whole, up to the hash that the export ends with', async () => {
    const { text } = await ada.get('/v1/audit/export');
    const lines = text.split('\n').filter(Boolean);
    const last = JSON.parse(lines.at(-1) ?? '') as { hash: string; position: string };
    expect(await verify(ada)).toEqual({
      ok: true,
      complete: true,
      broken: null,
      events: lines.length,
      hash: last.hash,
      position: last.position,
    });
    expect(await verify(ada, `?after=${last.position}`)).toMatchObject({ ok: true, events: 0, hash: last.hash });
  });

  it("checks another tenant's for auditors and administrators only", async () => {
    expect((await ada.get(`/v1/audit/verify?tenant=${bob.userId}`)).code).toBe('authorization_refused');
    expect(await verify(stack.admin, `?tenant=${bob.userId}`)).toMatchObject({ ok: true });
    expect((await ada.get('/v1/audit/verify?after=3')).code).toBe('not_found');
  });

  it.each([
    ['edited', `data = jsonb_set(data, '{threadId}', '"thread_x"')`, 'digest'],
    ['said to be of somebody else', `actor = '{"type":"user","id":"user_x"}'`, 'columns'],
  ])('names an event that was %s', async (_, change, fault) => {
    const eve = await stack.user('Eve');
    const threadId = idIn((await eve.post('/v1/threads', {})).data);
    await eve.post('/v1/threads', {});
    const [event] = (await eve.get(`/v1/audit/events?stream=thread-${threadId}`)).data as { id: string }[];
    await tamper(`update read_models.audit_events set ${change} where event_id = $1`, event?.id);
    expect(await verify(eve)).toMatchObject({ ok: false, broken: { fault, id: event?.id } });
  });

  it('notices an event that was taken out, and an end that was cut off', async () => {
    const eve = await stack.user('Eve');
    for (const title of ['one', 'two', 'three']) await eve.post('/v1/threads', { title });
    const events = (await eve.get('/v1/audit/events?type=thread.created')).data as { id: string }[];
    const [last, middle] = events;
    await tamper('delete from read_models.audit_events where event_id = $1', last?.id);
    expect(await verify(eve)).toMatchObject({ ok: false, broken: { fault: 'end' } });
    await eve.post('/v1/threads', {});
    await tamper('delete from read_models.audit_events where event_id = $1', middle?.id);
    expect(await verify(eve)).toMatchObject({ ok: false, broken: { fault: 'hash' } });
  });

  async function tamper(statement: string, id: string | undefined): Promise<void> {
    const client = new Client({ connectionString: stack.backends.databaseUrl });
    await client.connect();
    const { rowCount } = await client.query(statement, [id]);
    await client.end();
    expect(rowCount).toBe(1);
  }
});
