import fc from 'fast-check';
import { scanJson } from '../../src/interfaces/http/json-scan.js';
import { hostileBodies } from './hostile-bodies.js';
import { parsed, send, sendRaw, type Sent } from './rest-requests.js';
import { noteId, startStand, uuid, type Stand } from './rest-stand.js';

let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.server.close(0));

const call = (path: string, sent: Sent = {}) => send(stand.server.url + path, sent);

describe('a hostile body', () => {
  it.each(hostileBodies)('$title is refused, small and with the field named', async ({ body, headers, param }) => {
    const before = stand.ran.length;
    const answer = await call('/v1/notes', { method: 'POST', body, ...(headers && { headers }) });
    expect([answer.status, parsed(answer).error?.code, parsed(answer).error?.param]).toEqual([
      400,
      'validation_failed',
      param,
    ]);
    expect(parsed(answer).error?.issues?.length).toBeLessThanOrEqual(20);
    expect(answer.text.length).toBeLessThan(4_096);
    expect(stand.ran.length).toBe(before);
  });
  it('with 19 digits is asked to send a string', async () => {
    const answer = await call('/v1/notes', { method: 'POST', body: '{"title":"a","count":1234567890123456789}' });
    expect(parsed(answer).error?.issues?.[0]?.rule).toContain('send it as a string');
  });
});

describe('a body at the limits', () => {
  const allowed = [
    ['200 emoji', JSON.stringify({ title: '😀'.repeat(200) })],
    ['escaped quotes and backslashes', '{"title":"\\\\\\"\\\\","metadata":{"a":"{\\"a\\":1,\\"a\\":2}"}}'],
    ['the same name in two objects', '{"title":"a","metadata":{"title":"b"}}'],
    ['the largest exact number', '{"title":"a","count":1e1}'],
    ['white space everywhere', ' { "title" : "a" , "count" : 1 } \n'],
  ] as const;
  it.each(allowed)('%s is taken', async (_title, body) =>
    expect((await call('/v1/notes', { method: 'POST', body })).status).toBe(201),
  );
  it('64 levels are taken', async () => {
    const body = `{"fields":${'['.repeat(63)}9007199254740991${']'.repeat(63)}}`;
    expect((await call(`/v1/notes/${noteId}`, { method: 'PATCH', body })).status).toBe(200);
  });
  it('no body at all is an empty one', async () =>
    expect((await call(`/v1/notes/${noteId}`, { method: 'PATCH' })).status).toBe(200));
  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"'])(
    '%s is JSON',
    async (type) =>
      expect(
        (await call('/v1/notes', { method: 'POST', body: '{"title":"a"}', headers: { 'content-type': type } })).status,
      ).toBe(201),
  );
});

describe('a hostile request', () => {
  const requests: readonly (readonly [string, string, Sent, number, string])[] = [
    ['a query parameter twice', '/v1/notes?limit=1&limit=2', {}, 400, 'limit'],
    ['a query parameter twice, once escaped', '/v1/notes?limit=1&%6cimit=2', {}, 400, 'limit'],
    ['an unknown query parameter', '/v1/notes?ownerId=user_1', {}, 400, 'ownerId'],
    ['brackets in the query', '/v1/notes?limit[gt]=1', {}, 400, '(name)'],
    ['__proto__ in the query', '/v1/notes?__proto__=1', {}, 400, '__proto__'],
    ['a broken escape in the query', '/v1/notes?like=%zz', {}, 400, 'like'],
    ['overlong UTF-8 in the query', '/v1/notes?like=%c0%af', {}, 400, 'like'],
    ['NUL in the query', '/v1/notes?like=%00', {}, 400, 'like'],
    ['a limit of zero', '/v1/notes?limit=0', {}, 400, 'limit'],
    ['a limit that is text', '/v1/notes?limit=ten', {}, 400, 'limit'],
    ['a limit in hexadecimal', '/v1/notes?limit=0x10', {}, 400, 'limit'],
    ['an empty limit', '/v1/notes?limit=', {}, 400, 'limit'],
    ['a limit of 30 digits', `/v1/notes?limit=${'9'.repeat(30)}`, {}, 400, 'limit'],
    ['a truth that is neither', `/v1/notes/${noteId}?loud=1`, {}, 400, 'loud'],
    ['a field in the query of a command', '/v1/notes?title=a', { method: 'POST', body: '{"title":"a"}' }, 400, 'query'],
    [
      'a field of the path in the body',
      `/v1/notes/${noteId}`,
      { method: 'PATCH', body: '{"noteId":"x"}' },
      400,
      'noteId',
    ],
    ['a field of the path in the query', `/v1/notes/${noteId}?noteId=x`, {}, 400, 'noteId'],
    [
      'a correlation id that is no uuid',
      '/v1/notes',
      { headers: { 'x-correlation-id': '1\t2' } },
      400,
      'correlationId',
    ],
    ['two correlation ids', '/v1/notes', { headers: { 'x-correlation-id': `${uuid}, ${uuid}` } }, 400, 'correlationId'],
    ['an empty correlation id', '/v1/notes', { headers: { 'x-correlation-id': '' } }, 400, 'correlationId'],
    ['a revision without quotes', '/v1/notes', { headers: { 'if-match': 'r7' } }, 400, 'If-Match'],
    ['two revisions', '/v1/notes', { headers: { 'if-match': '"r7", "r8"' } }, 400, 'If-Match'],
    ['any revision', '/v1/notes', { headers: { 'if-match': '*' } }, 400, 'If-Match'],
    [
      'a negative position',
      '/v1/notes',
      { headers: { 'palimpsest-min-position': '-1' } },
      400,
      'Palimpsest-Min-Position',
    ],
    [
      'a header and a field that differ',
      '/v1/notes',
      { method: 'POST', body: `{"title":"a","idempotencyKey":"${uuid}"}`, headers: { 'idempotency-key': '1' } },
      400,
      'idempotencyKey',
    ],
  ];
  it.each(requests)('%s is refused', async (_title, path, sent, status, param) => {
    const before = stand.ran.length;
    const answer = await call(path, sent);
    expect([answer.status, parsed(answer).error?.param]).toEqual([status, param]);
    expect(stand.ran.length).toBe(before);
  });
  it('a position that is not reached is asked to come back', async () => {
    const answer = await call('/v1/notes', { headers: { 'palimpsest-min-position': '11' } });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  });
});

describe('bytes on the wire', () => {
  const ask = (...lines: readonly string[]) =>
    sendRaw(stand.server.port, ['POST /v1/notes HTTP/1.1', 'Host: x', 'Connection: close', ...lines].join('\r\n'));
  const key = 'Authorization: Bearer plm_good';
  const body = ['Content-Type: application/json', 'Content-Length: 13', '', '{"title":"a"}'];

  const twice: readonly (readonly [string, readonly string[], number])[] = [
    ['Idempotency-Key', [key, `Idempotency-Key: ${uuid}`, `Idempotency-Key: ${uuid}`], 400],
    ['X-Correlation-Id', [key, `X-Correlation-Id: ${uuid}`, `X-Correlation-Id: ${uuid}`], 400],
    ['If-Match', [key, 'If-Match: "r7"', 'If-Match: "r7"'], 400],
    ['Authorization', [key, key], 401],
    ['X-API-Key', ['X-API-Key: plm_good', 'X-API-Key: plm_good'], 401],
    ['Content-Type', [key, 'Content-Type: application/json'], 400],
  ];
  it.each(twice)('%s twice is refused', async (_name, headers, status) => {
    const before = stand.ran.length;
    expect(await ask(...headers, ...body)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(stand.ran.length).toBe(before);
  });
  it('the same request with each header once is taken', async () =>
    expect(await ask(key, ...body)).toMatch(/^HTTP\/1.1 201 /));

  const broken = [
    ['not HTTP', 'hello\r\n\r\n'],
    ['two lengths', 'POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'],
    [
      'a length and chunks',
      'POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['NUL in the path', 'GET /v1/notes\u0000 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without colon', 'GET /v1/notes HTTP/1.1\r\nHost x\r\n\r\n'],
    ['endless headers', `GET /v1/notes HTTP/1.1\r\nHost: x\r\n${'A: aaaaaaaaaaaaaaa\r\n'.repeat(2_000)}\r\n`],
    ['an endless path', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ] as const;
  it.each(broken)('%s is refused as JSON', async (_title, bytes) => {
    const answer = await sendRaw(stand.server.port, bytes);
    expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error: { code: 'validation_failed' },
    });
  });
  it.each(['GET http://elsewhere/v1/notes', 'GET //elsewhere/v1/notes', 'GET /v1/../v1/notes', 'OPTIONS *'])(
    '%s does no harm',
    async (line) =>
      expect(
        await sendRaw(stand.server.port, `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\n\r\n`),
      ).toMatch(/^HTTP\/1.1 [24]\d\d /),
  );
  it('a read with a body is refused', async () =>
    expect(
      await sendRaw(
        stand.server.port,
        `GET /v1/notes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\nContent-Length: 2\r\n\r\n{}`,
      ),
    ).toMatch(/^HTTP\/1.1 400 /));
  it('a client that leaves in mid-body leaves nothing behind', async () => {
    const { server, logged } = stand;
    const before = logged.length;
    const socket = await import('node:net').then(({ connect }) => connect(server.port, '127.0.0.1'));
    socket.write(
      `POST /v1/notes HTTP/1.1\r\nHost: x\r\n${key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"ti`,
      () => socket.destroy(),
    );
    while (logged.length === before) await new Promise((resolve) => setImmediate(resolve));
    expect(logged.slice(before)).toEqual([expect.objectContaining({ message: 'request', cut: true })]);
  });
});

describe('generated garbage', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const words = fc.constantFrom(
    'title',
    'count',
    'urls',
    'metadata',
    'limit',
    'like',
    '__proto__',
    'constructor',
    'ownerId',
    'idempotencyKey',
  );
  const fields = fc.dictionary(fc.oneof(words, text), fc.jsonValue({ maxDepth: 4 }));
  const bodies = fc.oneof(
    fields.map((value) => JSON.stringify(value)),
    fc.json(),
    text,
  );
  const queries = fc.dictionary(words, text).map((query) => new URLSearchParams(query).toString());
  const paths = fc.oneof(
    fc.webPath(),
    fc.webSegment().map((id) => `/${id}`),
    fc.constant(`/${noteId}`),
    fc.constant(''),
  );
  const methods = fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT');

  it('never makes a fault, and is always answered in the envelope', async () => {
    const tidy = fc.asyncProperty(methods, paths, queries, bodies, async (method, path, query, body) => {
      const sent: Sent = method === 'GET' ? { method } : { method, body };
      const answer = await call(`/v1/notes${path}?${query}`, sent);
      expect(answer.status).toBeLessThan(500);
      expect(answer.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    });
    await fc.assert(tidy, { numRuns: 400, seed: 4700 });
  });

  it('is scanned without an issue when it is an ordinary object', () => {
    const ordinary = fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      fc.pre(!JSON.stringify(value).includes('__proto__'));
      fc.pre(!/\d{16}|\de/i.test(JSON.stringify(value)));
      expect(scanJson(JSON.stringify(value))).toBeUndefined();
    });
    fc.assert(ordinary, { numRuns: 500, seed: 4700 });
  });

  it('is scanned to the same issue wherever a name stands twice', () => {
    const doubled = fc.property(fc.string(), fc.jsonValue({ maxDepth: 3 }), (name, value) => {
      fc.pre(name !== '__proto__' && !JSON.stringify(value).includes('__proto__'));
      fc.pre(!/\d{16}|\de/i.test(JSON.stringify(value)));
      const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
      expect(scanJson(`[0,{"\\u0020first":[],${member},"\\u0020mid":{},${member}}]`)?.rule).toBe(
        'given more than once',
      );
    });
    fc.assert(doubled, { numRuns: 500, seed: 4700 });
  });
});
