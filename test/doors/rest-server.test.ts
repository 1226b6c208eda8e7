import { connect } from 'node:net';
import type { Operation } from '../../src/application/operation/operation.js';
import { startHttpServer } from '../../src/interfaces/http/server.js';
import { restDoor } from '../../src/interfaces/rest/door.js';
import { makeMetrics } from '../../src/infrastructure/metrics.js';
import { parsed, send, type Sent } from './rest-requests.js';
import { makeOperations, noteId, startStand, uuid, type Stand } from './rest-stand.js';

let stand: Stand;
let failing = false;
beforeAll(async () => {
  stand = await startStand({
    postgres: async () => undefined,
    redis: async () => {
      if (failing) throw new Error('connect ECONNREFUSED redis://:password@host');
    },
  });
});
afterAll(() => stand.server.close(0));

const call = (path: string, sent: Sent = {}) => send(stand.server.url + path, sent);

describe('the probes', () => {
  it('say that the process lives', async () => expect((await call('/healthz')).text).toBe('ok\n'));
  it('say that it is ready, with a line for each backend', async () => {
    const answer = await call('/readyz');
    expect([answer.status, answer.text]).toEqual([200, 'postgres: ok\nredis: ok\n']);
  });
  it('say which backend is missing, and nothing of the error', async () => {
    failing = true;
    const answer = await call('/readyz');
    failing = false;
    expect([answer.status, answer.text]).toEqual([503, 'postgres: ok\nredis: not available\n']);
  });
  it('show what was counted', async () => {
    await call('/v1/notes');
    const answer = await call('/metrics');
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(answer.text).toMatch(
      /palimpsest_operation_seconds_count\{operation="note.list",door="rest",outcome="ok"\} \d/,
    );
    expect(answer.text).toContain('process_resident_memory_bytes');
  });
});

describe('the page of the API', () => {
  it('is where the root leads', async () => expect((await call('/')).headers.get('location')).toBe('/docs'));
  it('loads nothing from elsewhere', async () => {
    const page = (await call('/docs')).text;
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
    expect(loaded).toHaveLength(4);
    for (const url of loaded) expect([url, (await call(url)).status]).toEqual([url, 200]);
  });
  it('runs no script that stands inside it', async () => {
    const answer = await call('/docs');
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(answer.text).not.toMatch(/<script>/);
  });
  it('reads the document of this server', async () =>
    expect((await call('/docs/start.js')).text).toContain("url: '/openapi.json'"));
});

describe('the API document that is served', () => {
  it('is written once, however often it is asked for', async () => {
    const [operation] = makeOperations([], Promise.resolve());
    let looks = 0;
    const watched = {
      ...operation,
      get summary() {
        looks += 1;
        return 'Be looked at.';
      },
    } as Operation; // a real one, but for its summary
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const gateway = () => Promise.reject(new Error('never called'));
    const doors = [restDoor({ operations: [watched], gateway, version: '1' })];
    const needs = { doors, log, checks: {}, exposition: makeMetrics() };
    const server = await startHttpServer(needs, { host: '127.0.0.1', port: 0 });
    const first = await send(`${server.url}/openapi.json`);
    const after = looks;
    const second = await send(`${server.url}/openapi.json`);
    await server.close(0);
    expect(first.text).toContain('Be looked at.');
    expect(second.text).toBe(first.text);
    expect(looks).toBe(after);
  });
  it('is not sent again to a client that has it', async () => {
    const first = await call('/openapi.json');
    // As browsers ask again; left to itself, fetch would ask for everything.
    const headers = { 'if-none-match': first.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
    const again = await call('/openapi.json', { headers });
    expect([first.status, again.status, again.text.length]).toEqual([200, 304, 0]);
  });
});

describe('the access log', () => {
  it('has a line for each request: route, status and correlation id, but no words of the caller', async () => {
    const before = stand.logged.length;
    await call(`/v1/notes/${noteId}?from=123456&loud=true`, { headers: { 'x-correlation-id': uuid } });
    await until(() => stand.logged.length > before);
    const [line] = stand.logged.slice(before);
    expect(line).toEqual({
      level: 'info',
      message: 'request',
      method: 'GET',
      route: '/v1/notes/{noteId}',
      status: 200,
      ms: expect.any(Number) as unknown,
      correlationId: uuid,
    });
  });
  it('names no path that is not declared', async () => {
    const before = stand.logged.length;
    await call('/v1/canary?canary=1');
    await until(() => stand.logged.length > before);
    expect(stand.logged.slice(before)).toEqual([expect.objectContaining({ route: '(none)', status: 404 })]);
  });
});

describe('headers of security', () => {
  it.each(['/v1/notes', '/healthz', '/openapi.json', '/docs', '/nothing'])('stand on %s', async (path) => {
    const { headers } = await call(path);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-powered-by')).toBeNull();
  });
});

describe('a server that stops', () => {
  it('finishes what runs, then takes no connections', async () => {
    const stopping = await startStand();
    const { server, ran } = stopping;
    const waiting = send(`${server.url}/v1/waits`, { method: 'POST', body: '{}' });
    await until(() => ran.includes('note.wait'));
    const closing = server.close(60_000);
    stopping.release();
    expect((await waiting).status).toBe(200);
    await closing;
    await expect(send(`${server.url}/healthz`)).rejects.toThrow();
  });
  it('cuts what does not finish in time', async () => {
    const stopping = await startStand();
    const { server, ran } = stopping;
    const waiting = send(`${server.url}/v1/waits`, { method: 'POST', body: '{}' }).catch(() => 'cut');
    await until(() => ran.includes('note.wait'));
    await server.close(1);
    expect(await waiting).toBe('cut');
    stopping.release();
  });
  it('refuses operations that still arrive, as safe to retry', async () => {
    const { server, ran } = await startStand();
    const finish = await halfSent(server.port, 'GET /v1/notes HTTP/1.1');
    const closing = server.close(60_000);
    expect(await finish()).toMatch(/^HTTP\/1.1 503 [^]*Connection: close[^]*Retry-After: 1[^]*"code":"unavailable"/);
    await closing;
    expect(ran).toEqual([]);
  });
  it('refuses messages of MCP that still arrive, too', async () => {
    const { server } = await startStand();
    const finish = await halfSent(server.port, 'POST /mcp HTTP/1.1');
    const closing = server.close(60_000);
    expect(await finish()).toMatch(/^HTTP\/1.1 503 [^]*Connection: close[^]*"code":"unavailable"/);
    await closing;
  });
  it('is not ready', async () => {
    const { server } = await startStand();
    const finish = await halfSent(server.port, 'GET /readyz HTTP/1.1');
    const closing = server.close(60_000);
    expect(await finish()).toMatch(/^HTTP\/1.1 503 [^]*server: draining/);
    await closing;
  });
});

describe('a port that is taken', () => {
  it('is named by the code of the system', async () => {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const needs = { doors: [], log, checks: {}, exposition: makeMetrics() };
    await expect(startHttpServer(needs, { host: '127.0.0.1', port: stand.server.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});

describe('a door that breaks', () => {
  it('answers a constant fault and logs its kind only', async () => {
    const logged: unknown[] = [];
    const keep = (...line: readonly unknown[]) => void logged.push(line);
    const log = { info: () => undefined, warn: keep, error: keep };
    const gateway = () => Promise.reject(new Error('canary'));
    const checks = {};
    const operations = makeOperations([], Promise.resolve());
    const doors = [restDoor({ operations, gateway, version: '1' })];
    const needs = { doors, log, checks, exposition: makeMetrics() };
    const server = await startHttpServer(needs, { host: '127.0.0.1', port: 0 });
    const answer = await send(`${server.url}/v1/notes`);
    await server.close(0);
    expect([answer.status, parsed(answer).error?.code]).toEqual([500, 'internal_fault']);
    expect(logged).toHaveLength(1);
    expect(answer.text + JSON.stringify(logged)).not.toContain('canary');
  });
});

/** A connection on which one request was answered and the next has begun; finishing it gives its answer. */
async function halfSent(port: number, line: string): Promise<() => Promise<string>> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (text: string) => (received += text));
  socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n${line}\r\nHost: x\r\n`);
  await until(() => received.endsWith('ok\n'));
  received = '';
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  return () => {
    socket.write('\r\n');
    return closed;
  };
}

/** Waits for a state that comes by itself; the test's own time limit ends the wait. */
async function until(state: () => boolean): Promise<void> {
  while (!state()) await new Promise((resolve) => setImmediate(resolve));
}
