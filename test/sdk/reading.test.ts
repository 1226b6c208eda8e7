import { Palimpsest } from '../../src/interfaces/sdk/index.js';
import { backoff, delayBefore } from '../../src/interfaces/sdk/retry.js';
import { PalimpsestError } from '../../src/interfaces/sdk/errors.js';
import { cut, events, half, refusal, startScriptServer, success, text } from './script-server.js';
import type { Answer, ScriptServer } from './script-server.js';

let server: ScriptServer;
afterEach(() => server.close());

async function clientOf(script: readonly Answer[]): Promise<Palimpsest> {
  server = await startScriptServer(...script);
  return new Palimpsest({ url: server.url, apiKey: 'plm_key' });
}

const lines = () => server.came.map(({ line }) => line);
const page = (items: readonly unknown[], nextCursor: string | null, more = {}) =>
  success(items, { page: { nextCursor, ...more } });

describe('a list', () => {
  it('is read page by page, as far as it is iterated', async () => {
    const client = await clientOf([page([{ id: 1 }, { id: 2 }], 'c1'), page([{ id: 3 }], 'c2'), page([], null)]);
    const ids = [];
    for await (const { id } of client.threads.list({ limit: 2 })) ids.push(id);
    expect(ids).toEqual([1, 2, 3]);
    expect(lines()).toEqual([
      'GET /v1/threads?limit=2',
      'GET /v1/threads?limit=2&cursor=c1',
      'GET /v1/threads?limit=2&cursor=c2',
    ]);
  });

  it('asks nothing before it is read, and no further when the loop is left', async () => {
    const client = await clientOf([page([{ id: 1 }], 'c1')]);
    const threads = client.threads.list();
    expect(server.came).toEqual([]);
    for await (const { id } of threads) if (id !== '') break;
    expect(server.came).toHaveLength(1);
  });

  it('gives single pages, with what is lost of them', async () => {
    const lost = [{ from: 3, to: 5 }];
    const client = await clientOf([page([{ id: 1 }], 'c1', { lost }), page([{ id: 2 }], null)]);
    const entries = client.scratchpads.entries.list('sp_1');
    expect(await entries.page()).toMatchObject({ items: [{ id: 1 }], nextCursor: 'c1', lost });
    expect(await entries.page('c1')).toMatchObject({ items: [{ id: 2 }], nextCursor: null, lost: [] });
    expect(lines()[1]).toBe('GET /v1/scratchpads/sp_1/entries?cursor=c1');
  });

  it('throws what it meets', async () => {
    const client = await clientOf([page([{ id: 1 }], 'c1'), refusal(404, { code: 'not_found' })]);
    await expect(client.threads.list().toArray()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an export', () => {
  it('is reported line by line', async () => {
    const client = await clientOf([text(200, '{"position":"1"}\n{"position":"2"}\n')]);
    const positions = [];
    for await (const { position } of client.audit.export({ type: 'thread.created' })) positions.push(position);
    expect(positions).toEqual(['1', '2']);
    expect(lines()).toEqual(['GET /v1/audit/export?type=thread.created']);
  });

  it('that is cut short says so after the last whole line', async () => {
    const client = await clientOf([half('{"position":"1"}\n{"posi')]);
    const positions: string[] = [];
    const reading = (async () => {
      for await (const { position } of client.audit.export()) positions.push(position);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'connection_failed' });
    expect(positions).toEqual(['1']);
  });
});

const begin = 'retry: 1000\nid: 10';
const reported = (id: number) => `id: ${id}\nevent: scratchpad.content_set\ndata: {"revision":${id}}`;
const done = (reason: string) => `event: done\ndata: {"reason":"${reason}"}`;

async function idsOf(following: AsyncIterable<{ readonly id: string }>): Promise<readonly string[]> {
  const ids = [];
  for await (const { id } of following) ids.push(id);
  return ids;
}

describe('what is followed', () => {
  it('goes on after the last event, whatever cut it, until there can be no more', async () => {
    const client = await clientOf([
      events([begin, ': still here', reported(11), reported(12)], 'break'),
      refusal(503, { code: 'unavailable', retryable: true }, { 'retry-after': '0' }),
      cut,
      events(['retry: 1000\nid: 12', reported(13)], 'end'),
      events([reported(14), done('server_stopping')], 'end'),
      events([reported(15), done('deleted'), reported(16)], 'silence'),
    ]);
    const following = client.scratchpads.events('sp_1');
    expect(await idsOf(following)).toEqual(['11', '12', '13', '14', '15']);
    expect(following.endReason).toBe('deleted');
    const path = 'GET /v1/scratchpads/sp_1/events';
    const after = ['', ...['12', '12', '12', '13', '14'].map((id) => `?lastEventId=${id}`)];
    expect(lines()).toEqual(after.map((query) => `${path}${query}`));
  });

  it('resumes where it began when it was cut before the first event', async () => {
    const client = await clientOf([events([begin], 'break'), events([reported(11), done('deleted')], 'end')]);
    expect(await idsOf(client.scratchpads.events('sp_1'))).toEqual(['11']);
    expect(lines()[1]).toBe('GET /v1/scratchpads/sp_1/events?lastEventId=10');
  });

  it('is connected again when nothing is heard for too long', async () => {
    const client = await clientOf([events([begin], 'silence'), events([reported(11), done('deleted')], 'end')]);
    expect(await idsOf(client.scratchpads.events('sp_1', {}, { timeoutMs: 30 }))).toEqual(['11']);
  });

  it('begins where it is asked to', async () => {
    const client = await clientOf([events([done('deleted')], 'end')]);
    await idsOf(client.scratchpads.events('sp_1', { lastEventId: '0' }));
    expect(lines()).toEqual(['GET /v1/scratchpads/sp_1/events?lastEventId=0']);
  });

  it('throws a refusal, also a later one', async () => {
    const gone = refusal(404, { code: 'not_found' });
    const client = await clientOf([events([reported(11)], 'break'), gone]);
    await expect(idsOf(client.scratchpads.events('sp_1'))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('does not begin when the server cannot be reached, however often it tried', async () => {
    const client = await clientOf([cut]);
    const following = client.scratchpads.events('sp_1', {}, { retries: 1 });
    await expect(idsOf(following)).rejects.toMatchObject({ code: 'connection_failed' });
    expect(server.came).toHaveLength(2);
  });

  it('ends with the signal of the follower, while it waits', async () => {
    const leaving = new AbortController();
    const client = await clientOf([events([begin, reported(11)], 'silence')]);
    const following = client.scratchpads.events('sp_1', {}, { signal: leaving.signal });
    const reading = (async () => {
      for await (const { id } of following) {
        expect(id).toBe('11');
        setImmediate(() => leaving.abort());
      }
    })();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(following.lastEventId).toBe('11');
  });
});

describe('the wait before a retry', () => {
  beforeEach(async () => {
    server = await startScriptServer(cut);
  });
  const policy = { retries: 3, maxDelayMs: 10_000 };
  const fault = (reported: object = {}) =>
    new PalimpsestError('', { code: 'unavailable', retryable: true, ...reported });

  it('doubles, somewhat at random, up to a bound', () => {
    expect(backoff(1, 10_000)).toBeGreaterThanOrEqual(50);
    expect(backoff(1, 10_000)).toBeLessThanOrEqual(100);
    expect(backoff(4, 10_000)).toBeGreaterThanOrEqual(400);
    expect(backoff(50, 10_000)).toBeLessThanOrEqual(10_000);
  });

  it('is at least what the server said', () => {
    expect(delayBefore(1, fault({ retryAfterSeconds: 2 }), policy)).toBe(2000);
    expect(delayBefore(1, fault({ retryAfterSeconds: 11 }), policy)).toBeUndefined();
  });

  it('is none after the last retry, or after what will not change', () => {
    expect(delayBefore(4, fault(), policy)).toBeUndefined();
    expect(delayBefore(1, fault({ retryable: false }), policy)).toBeUndefined();
    expect(delayBefore(1, new Error('mine'), policy)).toBeUndefined();
  });
});
