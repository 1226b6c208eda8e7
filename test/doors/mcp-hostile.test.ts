import { eventually } from '../support/eventually.js';
import { mcpClient, post, rpc } from '../support/mcp-client.js';
import { hostileBodies } from './hostile-bodies.js';
import { goodKey, makeOperations, poorKey, startStand, uuid, type Stand } from './rest-stand.js';
import { sendRaw } from './rest-requests.js';

let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.server.close(0));

const bearer = { authorization: `Bearer ${goodKey}` };
const call = (args: unknown, meta?: object) =>
  rpc(stand.server.url, goodKey, {
    method: 'tools/call',
    params: { name: 'note_create', arguments: args, ...(meta && { _meta: meta }) },
  });

interface Parsed {
  readonly id?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly param?: string } };
  readonly result?: {
    readonly isError?: boolean;
    readonly structuredContent?: { readonly error?: { readonly code: string; readonly param?: string } };
  };
}
/** The message of an answer, which a legacy one has inside a server-sent event. */
const parsed = (text: string): Parsed => JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Parsed;

/** A hostile body of the REST door as the arguments of a call. */
const asArguments = (body: string | Buffer): string | Buffer => {
  const [head, tail] = [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note_create","arguments":',
    '}}',
  ];
  return typeof body === 'string' ? head + body + tail : Buffer.concat([Buffer.from(head), body, Buffer.from(tail)]);
};

describe('hostile arguments', () => {
  it.each(hostileBodies)('$title are refused, small, and nothing runs', async ({ body, headers, param }) => {
    const before = stand.ran.length;
    const isEncoded = headers?.['content-encoding'] !== undefined;
    const answer = await post(stand.server.url, isEncoded ? body : asArguments(body), { ...bearer, ...headers });
    const { error, result } = parsed(answer.text);
    if (result)
      expect([
        answer.status,
        result.isError,
        result.structuredContent?.error?.code,
        result.structuredContent?.error?.param,
      ]).toEqual([200, true, 'validation_failed', param]);
    else expect([[200, 400, 415].includes(answer.status), typeof error?.message]).toEqual([true, 'string']);
    expect(answer.text.length).toBeLessThan(8_192);
    expect(stand.ran.length).toBe(before);
  });

  it.each([
    ['NUL', { title: 'a\0' }, 'title'],
    ['half a surrogate pair', { title: '\ud800' }, 'title'],
    ['NUL in a name', { title: 'a', metadata: { 'a\0': 'b' } }, 'metadata.(name)'],
    ['an owner', { title: 'a', ownerId: 'user_1' }, 'ownerId'],
    ['a scratchpad', { title: 'a', scratchpad: 'sp_1' }, 'scratchpad'],
  ])('with %s are a refusal that names the field', async (_, args, param) => {
    const { result } = parsed((await call(args)).text);
    expect(result?.structuredContent?.error).toMatchObject({ code: 'validation_failed', param });
  });

  it.each([
    ['a name twice', '{"title":"a","title":"b"}', 'params.arguments.title'],
    ['65 levels', `{"metadata":${'['.repeat(64)}${']'.repeat(64)}}`, 'params.arguments.metadata'],
    ['__proto__', '{"__proto__":{"title":"a"}}', 'params.arguments.__proto__'],
    ['a number that loses digits', '{"title":"a","count":1234567890123456789}', 'params.arguments.count'],
    ['no end', '{"title":"a"', 'body'],
  ])('with %s are refused before they are a message', async (_, args, param) => {
    const answer = await post(stand.server.url, asArguments(args), bearer);
    expect([answer.status, parsed(answer.text).error?.code, parsed(answer.text).error?.data?.param]).toEqual([
      400,
      -32_700,
      param,
    ]);
  });
});

describe('a body that is no message', () => {
  it.each([
    ['2 MiB', JSON.stringify({ title: 'a'.repeat(2_097_152) })],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
    ['a text', '"ping"'],
    ['not JSON', 'ping'],
    ['Latin-1', Buffer.from('{"title":"\xe9"}', 'latin1')],
  ])('%s is refused and the connection lives on', async (_, body) => {
    const answer = await post(stand.server.url, body, bearer);
    expect([answer.status, parsed(answer.text)]).toEqual([
      400,
      { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32_700 }) as unknown },
    ]);
    expect(parsed((await call({ title: 'a' })).text).result?.isError).toBeUndefined();
  });
});

describe('what a request says in places where a library might repeat it', () => {
  const canary = 'CANARY7f3a';
  const version = 'io.modelcontextprotocol/protocolVersion';
  const capabilities = 'io.modelcontextprotocol/clientCapabilities';
  const modern =
    (method: string, params: object, headers: Readonly<Record<string, string>> = {}) =>
    () =>
      rpc(stand.server.url, goodKey, { method, params: { ...params }, headers });
  const legacy =
    (message: object, headers: Readonly<Record<string, string>> = {}) =>
    () =>
      post(stand.server.url, JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }), { ...bearer, ...headers });
  const places: readonly (readonly [string, () => ReturnType<typeof post>])[] = [
    ['a method', legacy({ method: canary })],
    ['a method, modern', modern(canary, {})],
    ['a tool', legacy({ method: 'tools/call', params: { name: canary } })],
    ['a tool, modern', modern('tools/call', { name: canary })],
    ['a tool of another type', legacy({ method: 'tools/call', params: { name: { [canary]: canary } } })],
    [
      'arguments of another type',
      legacy({ method: 'tools/call', params: { name: 'note_create', arguments: [canary] } }),
    ],
    ['an unknown argument', modern('tools/call', { name: 'note_create', arguments: { [`${canary}-`]: canary } })],
    ['a wrong value', modern('tools/call', { name: 'note_create', arguments: { title: 'a', count: canary } })],
    ['a fault inside', modern('tools/call', { name: 'note_break', arguments: { secret: canary } })],
    ['a cursor', legacy({ method: 'tools/list', params: { cursor: canary } })],
    ['a cursor of another type', legacy({ method: 'tools/list', params: { cursor: { [canary]: canary } } })],
    ['parameters', legacy({ method: 'tools/list', params: canary })],
    ['an unknown member', legacy({ method: 'ping', [canary]: canary })],
    ['the version', modern('tools/list', { _meta: { [version]: canary } }, { 'mcp-protocol-version': canary })],
    ['the version of the header', modern('tools/list', {}, { 'mcp-protocol-version': canary })],
    ['the version of the header, legacy', legacy({ method: 'tools/list' }, { 'mcp-protocol-version': canary })],
    ['the capabilities', modern('tools/list', { _meta: { [capabilities]: { experimental: { [canary]: 1 } } } })],
    [
      'the capabilities, legacy',
      legacy({
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: { experimental: { [canary]: 1 } },
          clientInfo: { name: 'a', version: '1' },
        },
      }),
    ],
    ['the method of the header', modern('tools/list', {}, { 'mcp-method': canary })],
    ['the name of the header', modern('tools/call', { name: 'note_create' }, { 'mcp-name': canary })],
    ['a session', legacy({ method: 'tools/list', params: { cursor: '1' } }, { 'mcp-session-id': canary })],
    ['a subscription', modern('subscriptions/listen', { notifications: canary })],
    ['a level', legacy({ method: 'logging/setLevel', params: { level: canary } })],
    ['a resource', legacy({ method: 'resources/read', params: { uri: `file:///${canary}` } })],
    [
      'a key beside the arguments',
      modern('tools/call', {
        name: 'note_create',
        arguments: { title: 'a' },
        _meta: { 'palimpsest/idempotencyKey': canary },
      }),
    ],
    [
      'no text beside the arguments',
      modern('tools/call', {
        name: 'note_create',
        arguments: { title: 'a' },
        _meta: { 'palimpsest/ifMatch': [canary] },
      }),
    ],
  ];
  it.each(places)('%s is refused and not repeated, nor is a stack shown', async (_, ask) => {
    const { text } = await ask();
    const { error, result } = parsed(text);
    expect([error !== undefined || result?.isError === true, text.includes(canary)]).toEqual([true, false]);
    expect(text).not.toMatch(/\n\s+at |node_modules|\.[jt]s:/);
    expect(JSON.stringify(stand.logged)).not.toContain(canary);
  });

  it('a subscription to nothing ends at once', async () => {
    const { status, text } = await modern('subscriptions/listen', { notifications: { toolsListChanged: true } })();
    expect([status, text.includes('"resultType":"complete"')]).toEqual([200, true]);
  });
});

describe('who is let in', () => {
  const ask = (lines: readonly string[], method = 'POST') =>
    sendRaw(stand.server.port, [`${method} /mcp HTTP/1.1`, 'Connection: close', ...lines].join('\r\n'));
  const message = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const rest = [
    'Authorization: Bearer plm_good',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${message.length}`,
    '',
    message,
  ];

  it.each(['127.0.0.1', 'localhost:4700', 'LOCALHOST', '[::1]:80', 'agents.example', 'agents.example:443'])(
    'a client that calls it %s',
    async (host) => expect(await ask([`Host: ${host}`, ...rest])).toMatch(/^HTTP\/1\.1 200 /),
  );
  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    'agents.example.',
    '127.0.0.1@evil.example',
    'evil.example#127.0.0.1',
    'evil.example/127.0.0.1',
    '0.0.0.0',
    '169.254.169.254',
    'agents.example, localhost',
    '',
  ])('not who calls it "%s"', async (host) => {
    const answer = await ask([`Host: ${host}`, ...rest]);
    expect(answer).toMatch(/^HTTP\/1\.1 (403|400) /);
    expect(answer).not.toContain('note_create');
  });
  it.each(['http://localhost:3000', 'http://127.0.0.1', 'https://agents.example'])('pages of %s', async (origin) =>
    expect(await ask(['Host: localhost', `Origin: ${origin}`, ...rest])).toMatch(/^HTTP\/1\.1 200 /),
  );
  it.each(['https://evil.example', 'null', 'file://', 'http://localhost.evil.example', 'http://[', 'x', ''])(
    'no pages of "%s"',
    async (origin) => {
      const answer = await ask(['Host: localhost', `Origin: ${origin}`, ...rest]);
      expect(answer).toMatch(/^HTTP\/1\.1 403 /);
      expect(answer).not.toContain('note_create');
      expect(answer.toLowerCase()).not.toContain('access-control');
    },
  );
  it('a host or origin is asked for before the key', async () => {
    const noKey = rest.slice(1);
    expect(await ask(['Host: evil.example', ...noKey])).toMatch(/^HTTP\/1\.1 403 /);
    expect(await ask(['Host: localhost', ...noKey])).toMatch(/^HTTP\/1\.1 401 /);
  });

  const keys: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['without a key', {}],
    ['with an unknown key', { authorization: 'Bearer plm_unknown' }],
    ['with another scheme', { authorization: `Basic ${goodKey}` }],
    ['with two keys', { authorization: `Bearer ${goodKey}`, 'x-api-key': poorKey }],
  ];
  it.each(['initialize', 'tools/list', 'tools/call', 'server/discover', 'ping', 'nonsense'])(
    'nobody %s without a key',
    async (method) => {
      for (const [, headers] of keys) {
        const answer = await rpc(stand.server.url, undefined, { method, headers });
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
        expect(answer.text).not.toContain('note_');
        expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'authentication_failed' } });
      }
    },
  );
  it('a client with a key, in either header', async () => {
    const answer = await rpc(stand.server.url, undefined, { method: 'tools/list', headers: { 'x-api-key': goodKey } });
    expect([answer.status, answer.text.includes('note_create')]).toEqual([200, true]);
  });
  it('a key without scopes sees nothing, and is refused', async () => {
    const poor = await mcpClient(stand.server.url, poorKey);
    expect((await poor.client.listTools()).tools).toEqual([]);
    expect((await poor.call('note_create', { title: 'a' })).code).toBe('authorization_refused');
    await poor.close();
  });
  it.each(['GET', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'])('nobody by %s', async (method) => {
    const answer = await ask(['Host: localhost', 'Authorization: Bearer plm_good', '', ''], method);
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(answer).toMatch(/^Allow: POST\r$/m);
  });
});

describe('an answer', () => {
  it('to a client that begins with a handshake is kept by nobody, either', async () => {
    const answer = await post(stand.server.url, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', bearer);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });
  it('is kept by nobody, says its correlation id, and is one line in the access log', async () => {
    const answer = await rpc(stand.server.url, goodKey, {
      method: 'tools/call',
      params: { name: 'note_create', arguments: { title: 'a' } },
      headers: { 'x-correlation-id': uuid },
    });
    expect([answer.headers.get('cache-control'), answer.headers.get('x-correlation-id')]).toEqual(['no-store', uuid]);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const lines = stand.logged.filter(({ correlationId }) => correlationId === uuid);
    expect(lines).toEqual([expect.objectContaining({ message: 'request', route: '/mcp', status: 200 })]);
  });
});

describe('a client that leaves before it is answered', () => {
  it.each(['modern', 'legacy'] as const)('is no fault of the door, be it %s', async (era) => {
    const own = await startStand();
    const mcp = await mcpClient(own.server.url, goodKey, { era });
    const left = mcp.call('note_wait').catch(() => 'left');
    await eventually(
      () => own.ran.length,
      (count) => count === 1,
    );
    await mcp.close();
    expect(await left).toBe('left');
    await eventually(() => own.logged.some(({ cut }) => cut === true), Boolean);
    own.release();
    await own.server.close(1_000);
    expect(own.logged.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});

describe('a registry of more tools than one page has', () => {
  it('is listed page after page, in order and whole', async () => {
    const [, , , , list] = makeOperations([], Promise.resolve());
    if (!list) throw new Error('There is no list.');
    const more = Array.from({ length: 230 }, (_, n) => ({
      ...list,
      name: `more.n${n}`,
      http: `GET /v1/more/n${n}` as const,
    }));
    const large = await startStand({}, more);
    const mcp = await mcpClient(large.server.url, goodKey);
    const { tools } = await mcp.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.slice(-230)).toEqual(more.map(({ name }) => name.replace('.', '_')));
    const page = parsed((await rpc(large.server.url, goodKey, { method: 'tools/list' })).text).result;
    expect(page).toMatchObject({ tools: { length: 100 }, nextCursor: 'after-100' });
    for (const cursor of ['after-9999', 'after--1', 'after-1e1', '100', '']) {
      const answer = await rpc(large.server.url, goodKey, { method: 'tools/list', params: { cursor } });
      expect(parsed(answer.text).error).toEqual({ code: -32_602, message: 'The cursor is of no listing.' });
    }
    await mcp.close();
    await large.server.close(0);
  });
});
