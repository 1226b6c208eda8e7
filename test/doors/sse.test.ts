import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { newId } from '../../src/application/kernel/ids.js';
import { eventually } from '../support/eventually.js';
import { openEvents } from '../support/sse.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

let stack: Stack;
let ada: Member;
let eve: Member;
beforeAll(async () => {
  stack = await startStack();
  [ada, eve] = [await stack.user('Ada'), await stack.user('Eve')];
});
afterAll(() => stack.stop());

const idIn = (data: unknown): string => (data as { id: string }).id; // everything that is made has an id

async function newPad(): Promise<string> {
  const threadId = idIn((await ada.post('/v1/threads', {})).data);
  return idIn((await ada.post('/v1/scratchpads', { threadId })).data);
}

const pathOf = (pad: string): string => `/v1/scratchpads/${pad}/events`;
const follow = (pad: string, headers = {}, url = stack.url) => openEvents(`${url}${pathOf(pad)}`, ada.key, headers);
const append = (pad: string, content: string) => ada.post(`/v1/scratchpads/${pad}/entries`, { content });

describe('server-sent events', () => {
  it('are a stream that nothing between keeps, and begin by saying where', async () => {
    const pad = await newPad();
    const events = await follow(pad);
    expect(events.status).toBe(200);
    expect(events.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(events.headers.get('cache-control')).toBe('no-store');
    expect(events.headers.get('x-accel-buffering')).toBe('no');
    expect(events.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    await append(pad, 'first');
    const [event] = await events.take(1);
    expect(event).toMatchObject({ event: 'scratchpad.entry_appended', data: { content: 'first', index: 1 } });
    expect(event?.id).toBe(events.lastId());
    await events.close();
  });

  it("are not begun for another tenant's, a missing or a malformed pad, which are answered alike", async () => {
    const pad = await newPad();
    const headers = { 'x-correlation-id': '3f0b8f0e-7b8e-4c6a-9d52-0f6d2b0c8a11', 'last-event-id': '7' };
    const replies = await Promise.all(
      [pad, newId('scratchpad', new Date()), 'nonsense'].map((id) => eve.get(pathOf(id), headers)),
    );
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.headers.get('content-type')).toContain('application/json');
  });

  it('need a key with the scope', async () => {
    const pad = await newPad();
    const narrow = (await ada.post('/v1/keys', { name: 'narrow', scopes: ['threads:read'] })).data as { key: string };
    expect((await stack.client(narrow.key).get(pathOf(pad))).code).toBe('authorization_refused');
    expect((await stack.client('plm_nobody').get(pathOf(pad))).code).toBe('authentication_failed');
  });

  it('open nothing for HEAD', async () => expect((await ada.send('HEAD', pathOf(await newPad()))).status).toBe(405));

  it.each(['x', '1, 2', '99999999999999999999'])('refuse to go on after %s', async (lastEventId) => {
    const reply = await ada.get(pathOf(await newPad()), { 'last-event-id': lastEventId });
    expect([reply.status, reply.code]).toEqual([400, 'validation_failed']);
  });

  it('go on at another process after the events of the first one, without gap or repeat', async () => {
    const other = await stack.another('api');
    const pad = await newPad();
    const first = await follow(pad);
    await append(pad, 'one');
    await append(pad, 'two');
    await first.take(1);
    await first.close();
    await append(pad, 'three');
    const second = await follow(pad, { 'last-event-id': first.lastId() ?? '' }, other.url);
    await append(pad, 'four');
    const reported = await second.take(3);
    expect(reported.map(({ data }) => data['content'])).toEqual(['two', 'three', 'four']);
    await second.close();
    await other.stop();
  });

  it('reach a process from another', async () => {
    const other = await stack.another('api');
    const pad = await newPad();
    const events = await follow(pad, {}, other.url);
    await append(pad, 'said here');
    expect((await events.take(1))[0]?.data).toMatchObject({ content: 'said here' });
    await events.close();
    await other.stop();
  });

  it('beat at least every 15 s while nothing happens', async () => {
    const pad = await newPad();
    jest.useFakeTimers({ doNotFake: [...allButIntervals] });
    const events = await follow(pad);
    jest.advanceTimersByTime(15_000);
    jest.useRealTimers();
    await append(pad, 'at last');
    await events.take(1);
    expect(events.comments()).toEqual(['still here']);
    await events.close();
  });

  it('end with done when the scratchpad is deleted, with its thread too', async () => {
    const threadId = idIn((await ada.post('/v1/threads', {})).data);
    const pad = idIn((await ada.post('/v1/scratchpads', { threadId })).data);
    const events = await follow(pad);
    await ada.delete(`/v1/threads/${threadId}`);
    expect((await events.rest()).map(({ event, data }) => [event, data['reason']])).toEqual([
      ['scratchpad.deleted', undefined],
      ['done', 'deleted'],
    ]);
    expect((await ada.get(pathOf(pad))).status).toBe(404);
  });

  it('end with done when the key is revoked', async () => {
    const pad = await newPad();
    const made = (await ada.post('/v1/keys', { name: 'other' })).data as { id: string; key: string };
    const events = await openEvents(`${stack.url}${pathOf(pad)}`, made.key);
    await ada.delete(`/v1/keys/${made.id}`);
    expect(await events.rest()).toEqual([{ id: undefined, event: 'done', data: { reason: 'authorization_ended' } }]);
  });

  it('end with done when the server stops, and do not hold it up', async () => {
    const other = await stack.another('api');
    const pad = await newPad();
    const events = await follow(pad, {}, other.url);
    const stopping = other.stop();
    expect(await events.rest()).toEqual([{ id: undefined, event: 'done', data: { reason: 'server_stopping' } }]);
    await stopping;
    const again = await follow(pad, { 'last-event-id': events.lastId() ?? '' });
    await append(pad, 'after the stop');
    expect((await again.take(1))[0]?.data).toMatchObject({ content: 'after the stop' });
    await again.close();
  });

  it('wait for a reader that does not read, and miss nothing', async () => {
    const pad = await newPad();
    const sleeper = await sleepingReader(pad);
    const body = 'x'.repeat(60_000);
    for (let n = 1; n <= 200; n += 1) await append(pad, `${n} ${body}`);
    const awake = await follow(pad, { 'last-event-id': '0' });
    await awake.take(200);
    await awake.close();
    let text = '';
    sleeper.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const indexes = () => [...text.matchAll(/"index":(\d+)/g)].map(([, index]) => Number(index));
    await eventually(indexes, (seen) => seen.length >= 200);
    expect(indexes()).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
    sleeper.destroy();
  });
});

const allButIntervals = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
] as const;

/** Has asked for the events, and takes none of them from the socket. */
async function sleepingReader(pad: string): Promise<IncomingMessage> {
  const call = httpRequest(`${stack.url}${pathOf(pad)}`, { headers: { authorization: `Bearer ${ada.key}` } });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage]; // as node documents it
  return response;
}
