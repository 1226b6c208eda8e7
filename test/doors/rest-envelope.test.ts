import { refusalCodes, refuse } from '../../src/domain/kernel/refusal.js';
import type { Gateway, Request, Success } from '../../src/application/gateway/request.js';
import { makeMetrics } from '../../src/infrastructure/metrics.js';
import { startHttpServer } from '../../src/interfaces/http/server.js';
import { restDoor } from '../../src/interfaces/rest/door.js';
import { statuses } from '../../src/interfaces/statuses.js';
import { parsed, send, type Sent } from './rest-requests.js';
import { goodKey, makeOperations, noteId, poorKey, startStand, uuid, type Stand } from './rest-stand.js';

let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.server.close(0));

const call = (path: string, sent: Sent = {}) => send(stand.server.url + path, sent);
const create = (headers: Readonly<Record<string, string>> = {}) =>
  call('/v1/notes', { method: 'POST', body: '{"title":"first"}', headers });

describe('a success', () => {
  it('is the declared output and nothing else, with a correlation id', async () => {
    const answer = await create({ 'x-correlation-id': uuid });
    expect(parsed(answer)).toEqual({
      data: { id: noteId, title: 'first', revision: 7, at: '2026-01-01T00:00:00.000Z' },
      correlationId: uuid,
    });
  });
  it('answers 201 when it creates', async () => expect((await create()).status).toBe(201));
  it('answers 200 when it reads', async () => expect((await call(`/v1/notes/${noteId}`)).status).toBe(200));
  it('repeats the correlation id in a header', async () =>
    expect((await create({ 'x-correlation-id': uuid })).headers.get('x-correlation-id')).toBe(uuid));
  it('makes a correlation id where none was sent', async () => {
    const answer = await create();
    expect(answer.headers.get('x-correlation-id')).toBe(parsed(answer).correlationId);
  });
  it('carries the revision as an entity tag', async () => expect((await create()).headers.get('etag')).toBe('"r7"'));
  it('is never kept by caches', async () => expect((await create()).headers.get('cache-control')).toBe('no-store'));
  it('of a list has a page', async () =>
    expect(parsed(await call('/v1/notes?limit=3'))).toMatchObject({
      data: [{ title: 'one of 3' }],
      page: { nextCursor: 'more' },
    }));
  it('takes the key from X-API-Key too', async () => {
    const response = await fetch(`${stand.server.url}/v1/notes`, { headers: { 'x-api-key': goodKey } });
    expect(response.status).toBe(200);
  });
});

describe('query parameters', () => {
  it('become numbers and booleans where the schema has them', async () =>
    expect(parsed(await call(`/v1/notes/${noteId}?loud=true&from=2.5`)).data).toEqual({
      id: noteId,
      loud: true,
      from: 2.5,
    }));
  it('stay text where the schema has text', async () => expect((await call('/v1/notes?like=12')).status).toBe(200));
  it('take defaults when they are absent', async () =>
    expect(parsed(await call('/v1/notes')).data).toMatchObject([{ title: 'one of 20' }]));
});

describe('a stream', () => {
  it('is one JSON object a line, stripped to its schema', async () => {
    const answer = await call('/v1/notes/export?count=2');
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(
      answer.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { id: noteId, title: 'note 0', revision: 7, at: '2026-01-01T00:00:00.000Z' },
      { id: noteId, title: 'note 1', revision: 7, at: '2026-01-01T00:00:00.000Z' },
    ]);
  });
  it('that fails before its first line is an internal fault', async () => {
    const answer = await call('/v1/notes/export?failAt=0');
    expect([answer.status, parsed(answer).error?.code]).toEqual([500, 'internal_fault']);
    expect(answer.text).not.toContain('stay inside');
  });
  it('that fails later is cut short, never ended as if whole', async () =>
    expect(call('/v1/notes/export?count=5&failAt=2')).rejects.toThrow());
  it('ends its source when the client goes away', async () => {
    const going = new AbortController();
    const before = stand.ran.length;
    const response = await fetch(`${stand.server.url}/v1/notes/export?count=10000000`, {
      headers: { authorization: 'Bearer plm_good' },
      signal: going.signal,
    });
    await response.body?.getReader().read();
    going.abort();
    await until(() => stand.ran.slice(before).includes('note.export ended'));
  });
});

describe('a refusal', () => {
  it.each(refusalCodes)('%s has its status, and says whether to try again', async (code) => {
    const answer = await call('/v1/refusals', { method: 'POST', body: JSON.stringify({ code }) });
    expect(answer.status).toBe(statuses[code].http);
    expect(parsed(answer)).toEqual({
      error: { code, message: refuse(code).message, retryable: statuses[code].retryable },
      correlationId: answer.headers.get('x-correlation-id'),
    });
  });
  it('of the kind unavailable says when to try again', async () => {
    const answer = await call('/v1/refusals', { method: 'POST', body: '{"code":"unavailable"}' });
    expect(answer.headers.get('retry-after')).toBe('1');
  });
  it('names the issues of an input, never its values', async () => {
    const answer = await call('/v1/notes', { method: 'POST', body: '{"titel":"canary","count":99}' });
    expect(parsed(answer).error?.issues).toEqual([
      { param: 'title', rule: 'must be a string' },
      { param: 'count', rule: 'at most 10' },
      { param: 'titel', rule: 'unknown field' },
    ]);
    expect(answer.text).not.toContain('canary');
  });
  it('shows the facts that a caller may act on', async () => {
    const answer = await call(`/v1/notes/${noteId}`, { method: 'PATCH', body: '{}', headers: { 'if-match': '"r3"' } });
    expect([answer.status, parsed(answer).error]).toEqual([
      409,
      expect.objectContaining({ code: 'conflict', reason: 'revision', revision: 7 }),
    ]);
  });
  it('is problem details where those are accepted', async () => {
    const accept = 'application/problem+json';
    const answer = await call('/v1/notes', {
      method: 'POST',
      body: '{}',
      headers: { accept, 'x-correlation-id': uuid },
    });
    expect(answer.headers.get('content-type')).toBe(accept);
    expect(parsed(answer)).toEqual({
      type: 'urn:palimpsest:refusal:validation_failed',
      title: 'validation failed',
      status: 400,
      detail: refuse('validation_failed').message,
      code: 'validation_failed',
      message: refuse('validation_failed').message,
      param: 'title',
      retryable: false,
      issues: [{ param: 'title', rule: 'must be a string' }],
      correlationId: uuid,
    });
  });
  it('of a fault shows nothing of the fault', async () => {
    const answer = await call('/v1/faults', { method: 'POST', body: '{"secret":"canary"}' });
    expect([answer.status, parsed(answer).error?.code]).toEqual([500, 'internal_fault']);
    expect(answer.text + JSON.stringify(stand.logged)).not.toContain('canary');
  });
});

describe('a missing resource', () => {
  const missing = [
    'thread_01j9z3k4m5n6p7q8r9s0t1v2w4',
    'thread_x',
    'user_01',
    '%00',
    '%80',
    '%zz',
    '%c0%af',
    '%F0%9F%98%80',
    '..%2f',
  ];
  it.each(missing)('answers the same bytes for %s', async (wrong) => {
    const answer = await call(`/v1/notes/${wrong}`, { headers: { 'x-correlation-id': uuid } });
    const error = { code: 'not_found', message: refuse('not_found').message, retryable: false };
    expect([answer.status, answer.text]).toEqual([404, JSON.stringify({ error, correlationId: uuid })]);
  });
});

describe('a caller without a good key', () => {
  const keys = [
    {},
    { authorization: 'Bearer plm_bad' },
    { authorization: 'Basic plm_good' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer plm_good, Bearer plm_good' },
    { 'x-api-key': 'plm_bad' },
    { authorization: 'Bearer plm_good', 'x-api-key': 'plm_bad' },
  ];
  it.each(keys)('gets the same answer with %p', async (headers) => {
    const response = await fetch(`${stand.server.url}/v1/notes`, { headers: { ...headers, 'x-correlation-id': uuid } });
    const error = { code: 'authentication_failed', message: refuse('authentication_failed').message, retryable: false };
    expect([response.status, await response.json()]).toEqual([401, { error, correlationId: uuid }]);
  });
  it('is refused before anything about the request is read', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${stand.server.url}/v1/notes`, { method: 'POST', headers, body: '{"a":1,"a":2}' });
    expect(response.status).toBe(401);
  });
  it('that lacks the scope is refused before anything about the request is read', async () => {
    const headers = { authorization: `Bearer ${poorKey}` };
    expect((await call('/v1/notes', { method: 'POST', headers, body: '{"a":1,"a":2}' })).status).toBe(403);
  });
});

describe('methods and paths', () => {
  it.each(['/v1/notes', `/v1/notes/${noteId}`, '/v1/notes/export'])('HEAD %s runs nothing', async (path) => {
    const before = stand.ran.length;
    const answer = await call(path, { method: 'HEAD' });
    expect([answer.status, answer.text, stand.ran.length]).toEqual([405, '', before]);
  });
  it.each(['PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])('%s is not taken where it is not declared', async (method) => {
    const answer = await call('/v1/notes', { method });
    expect([answer.status, answer.headers.get('allow'), parsed(answer).error?.code]).toEqual([
      405,
      'POST, GET',
      'not_found',
    ]);
  });
  it.each(['/v1/nothing', '/v1/notes/', '/V1/notes', '/v1//notes', '/nothing', '/v1'])(
    '%s is not found',
    async (path) => {
      const answer = await call(path);
      expect([answer.status, parsed(answer).error?.code]).toEqual([404, 'not_found']);
    },
  );
  it('fixed words win over ids', async () => expect((await call('/v1/notes/export?count=0')).text).toBe(''));
});

describe('what the gateway is handed, and what it hands back', () => {
  it('are headers both ways', async () => {
    const asked: Request[] = [];
    const success: Success = { data: { deleted: true }, position: '42', replayed: true };
    const gateway: Gateway = async (request) => {
      asked.push(request);
      return { correlationId: uuid, result: success };
    };
    const metrics = makeMetrics();
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const operations = makeOperations([], Promise.resolve());
    const doors = [restDoor({ operations, gateway, version: '1' })];
    const needs = { doors, log, checks: {}, exposition: metrics };
    const server = await startHttpServer(needs, { host: '127.0.0.1', port: 0 });
    const headers = {
      'idempotency-key': uuid,
      'x-correlation-id': uuid,
      'if-match': '"r7"',
      'palimpsest-min-position': '9',
      prefer: 'wait=3, respond-async',
    };
    const answer = await send(`${server.url}/v1/notes/${noteId}`, { method: 'DELETE', headers });
    await server.close(0);
    expect(asked).toEqual([
      expect.objectContaining({
        input: { noteId },
        principal: { bearer: 'plm_good' },
        idempotencyKey: uuid,
        correlationId: uuid,
        ifMatch: '"r7"',
        minPosition: '9',
        respondAsync: true,
        door: 'rest',
      }),
    ]);
    expect(parsed(answer)).toEqual({ data: { deleted: true }, correlationId: uuid, position: '42', replayed: true });
    expect([answer.headers.get('palimpsest-position'), answer.headers.get('idempotency-replayed')]).toEqual([
      '42',
      'true',
    ]);
  });
});

/** Waits for a state that comes by itself; the test's own time limit ends the wait. */
async function until(state: () => boolean): Promise<void> {
  while (!state()) await new Promise((resolve) => setImmediate(resolve));
}
