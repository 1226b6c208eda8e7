import { inspect } from 'node:util';
import { Palimpsest, PalimpsestError } from '../../src/interfaces/sdk/index.js';
import type { PalimpsestOptions } from '../../src/interfaces/sdk/index.js';
import { correlationId, cut, half, refusal, startScriptServer, success, text } from './script-server.js';
import type { Answer, ScriptServer } from './script-server.js';

const apiKey = 'plm_key_verySecretIndeed';

let server: ScriptServer;
afterEach(() => server.close());

async function clientOf(script: readonly Answer[], options: Partial<PalimpsestOptions> = {}): Promise<Palimpsest> {
  server = await startScriptServer(...script);
  return new Palimpsest({ url: server.url, apiKey, ...options });
}

async function errorOf(call: PromiseLike<unknown>): Promise<PalimpsestError> {
  const fault: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (fault instanceof PalimpsestError) return fault;
  throw new Error(`Not a PalimpsestError: ${inspect(fault)}`);
}

const pad = { id: 'sp_1' };

describe('a call', () => {
  it('awaits to its data, or gives more', async () => {
    const client = await clientOf([success(pad, { position: '41', replayed: true, charge: { micros: 2000 } })]);
    expect(await client.scratchpads.create({ threadId: 't' })).toEqual(pad);
    expect(await client.scratchpads.create({ threadId: 't' }).withMeta()).toEqual({
      data: pad,
      correlationId,
      position: '41',
      replayed: true,
      etag: undefined,
      chargeMicros: 2000,
    });
  });

  it('sends the key, a correlation id and, for a command, an idempotency key', async () => {
    const client = await clientOf([success(pad)]);
    await client.scratchpads.create({ threadId: 't' });
    await client.scratchpads.get('sp_1');
    const [command, query] = server.came;
    expect(command?.headers['authorization']).toBe(`Bearer ${apiKey}`);
    expect(command?.headers['idempotency-key']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(command?.headers['x-correlation-id']).toMatch(/^[0-9a-f]{8}-/);
    expect(command?.body).toBe('{"threadId":"t"}');
    expect(query?.headers['idempotency-key']).toBeUndefined();
    expect(query?.body).toBe('');
  });

  it('says its options as headers', async () => {
    const client = await clientOf([success(pad)]);
    await client.scratchpads.content.set('sp_1', 'text', {
      ifMatch: 7,
      idempotencyKey: correlationId,
      correlationId,
      respondAsync: true,
      scratchpad: 'sp_2',
    });
    await client.scratchpads.content.set('sp_1', '', { ifMatch: '"r8"' });
    expect(server.came[0]?.headers).toMatchObject({
      'if-match': '"r7"',
      'idempotency-key': correlationId,
      'x-correlation-id': correlationId,
      prefer: 'respond-async',
      'palimpsest-scratchpad': 'sp_2',
    });
    expect(server.came[1]?.headers['if-match']).toBe('"r8"');
    expect(server.came[1]?.body).toBe('{"content":""}');
  });

  it.each(['.', '..', ''])('does not let the id "%s" lead to another path', async (id) => {
    const client = await clientOf([success(pad)]);
    await client.scratchpads.entries.clear(id);
    expect(server.came[0]?.line).toBe('DELETE /v1/scratchpads/-/entries');
  });

  it('escapes ids and fields', async () => {
    const client = await clientOf([success([], { page: { nextCursor: null } })]);
    await client.scratchpads.entries.list('a/b?c', { author: 'x&y=z', limit: 3 }).toArray();
    expect(server.came[0]?.line).toBe('GET /v1/scratchpads/a%2Fb%3Fc/entries?author=x%26y%3Dz&limit=3');
  });

  it('keeps the path that the server is at', async () => {
    server = await startScriptServer(success(pad));
    await new Palimpsest({ url: `${server.url}/palimpsest/`, apiKey }).me.get();
    expect(server.came[0]?.line).toBe('GET /palimpsest/v1/me');
  });

  it('without its id is a mistake of the program', async () => {
    const client = await clientOf([success(pad)]);
    const get = client.scratchpads.get as (id?: string) => unknown;
    expect(() => get()).toThrow(new TypeError('scratchpad.get takes an id first.'));
    expect(server.came).toEqual([]);
  });
});

describe('an error', () => {
  it('is typed by its code, and says what the server said', async () => {
    const issues = [{ param: 'title', rule: 'at most 200 code points' }];
    const said = { code: 'validation_failed', message: 'The shape.', param: 'title', issues };
    const client = await clientOf([refusal(400, said)]);
    const error = await errorOf(client.threads.create({ title: 'x' }));
    expect(error).toMatchObject({ ...said, status: 400, retryable: false, correlationId, name: 'PalimpsestError' });
    expect(error.idempotencyKey).toBe(server.came[0]?.headers['idempotency-key']);
  });

  it('of a revision that has passed is a conflict, with the current one', async () => {
    const client = await clientOf([refusal(409, { code: 'conflict', reason: 'revision_mismatch', revision: 9 })]);
    const error = await errorOf(client.scratchpads.content.set('sp_1', 'x', { ifMatch: 8 }));
    expect([error.code, error.reason, error.details]).toEqual(['conflict', 'revision_mismatch', { revision: 9 }]);
  });

  it.each([
    [412, 'conflict'],
    [409, 'conflict'],
    [302, 'unexpected_answer'],
    [404, 'unexpected_answer'],
    [200, 'unexpected_answer'],
  ])('of status %d from something between is %s', async (status, code) => {
    const client = await clientOf([text(status, '<html>', { location: 'http://127.0.0.1:1/' })]);
    const error = await errorOf(client.me.get());
    expect([error.code, error.status, error.retryable]).toEqual([code, status, false]);
    expect(server.came).toHaveLength(1);
  });

  it('of a connection says which server, and keeps what is needed to ask again', async () => {
    const client = await clientOf([cut], { retries: 0 });
    const error = await errorOf(client.threads.create());
    expect(error).toMatchObject({ code: 'connection_failed', status: undefined, retryable: true });
    expect(error.message).toContain(server.url);
    expect(error.idempotencyKey).toBe(server.came[0]?.headers['idempotency-key']);
  });

  it('reports an answer that does not come in time', async () => {
    const client = await clientOf([() => undefined], { retries: 0, timeoutMs: 30 });
    const error = await errorOf(client.me.get());
    expect([error.code, error.reason]).toEqual(['connection_failed', 'timeout']);
  });

  it('of an answer that was cut in its middle is one of the connection', async () => {
    const client = await clientOf([half('{"data":', { 'content-length': '100' }), success(pad)]);
    expect(await client.me.get()).toEqual(pad);
    expect(server.came).toHaveLength(2);
  });
});

describe('a call that fails for a while', () => {
  it('is made again under the same idempotency key and correlation id', async () => {
    const client = await clientOf([
      cut,
      refusal(503, { code: 'unavailable', retryable: true }, { 'retry-after': '0' }),
      refusal(500, { code: 'internal_fault', retryable: true }),
      success(pad),
    ]);
    expect(await client.scratchpads.create({ threadId: 't' })).toEqual(pad);
    expect(server.came).toHaveLength(4);
    const [first] = server.came;
    for (const { headers, line, body } of server.came) {
      expect([line, body]).toEqual([first?.line, first?.body]);
      expect(headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
      expect(headers['x-correlation-id']).toBe(first?.headers['x-correlation-id']);
    }
  });

  it('is not made more often than was said', async () => {
    const client = await clientOf([refusal(503, { code: 'unavailable', retryable: true }, { 'retry-after': '0' })]);
    expect((await errorOf(client.me.get({ retries: 1 }))).code).toBe('unavailable');
    expect(server.came).toHaveLength(2);
  });

  it('is not made again when it was refused for good', async () => {
    const client = await clientOf([refusal(404, { code: 'not_found' })]);
    expect((await errorOf(client.me.get())).code).toBe('not_found');
    expect(server.came).toHaveLength(1);
  });

  it('is not waited for when the server says to come back much later', async () => {
    const client = await clientOf([refusal(429, { code: 'rate_limited', retryable: true }, { 'retry-after': '60' })]);
    expect((await errorOf(client.me.get())).retryAfterSeconds).toBe(60);
    expect(server.came).toHaveLength(1);
  });

  it('ends with the signal of its caller, also between two attempts', async () => {
    const leaving = new AbortController();
    const reason = new Error('enough');
    const later: Answer = (response) => {
      response.writeHead(429, { 'retry-after': '5' }).end(() => setImmediate(() => leaving.abort(reason)));
    };
    const client = await clientOf([later]);
    await expect(client.me.get({ signal: leaving.signal })).rejects.toBe(reason);
    await expect(client.me.get({ signal: leaving.signal })).rejects.toBe(reason);
    expect(server.came).toHaveLength(1);
  });
});

describe('a client', () => {
  it('reads what it wrote: its reads name the highest position it knows', async () => {
    const client = await clientOf([
      success(pad, { position: '9' }),
      success(pad, { position: '100' }),
      success(pad, { position: '20' }),
      success(pad),
    ]);
    expect(client.position).toBeUndefined();
    for (let n = 0; n < 3; n += 1) await client.threads.create();
    expect(client.position).toBe('100');
    await client.me.get();
    await client.me.get({ minPosition: '7' });
    await client.me.get({ minPosition: null });
    const asked = server.came.map(({ headers }) => headers['palimpsest-min-position']);
    expect(asked).toEqual([undefined, undefined, undefined, '100', '7', undefined]);
  });

  it('reads what another one wrote, and need not wait at all', async () => {
    const client = await clientOf([success(pad)], { position: '12' });
    await client.me.get();
    await new Palimpsest({ url: server.url, apiKey, position: '12', readYourWrites: false }).me.get();
    expect(server.came.map(({ headers }) => headers['palimpsest-min-position'])).toEqual(['12', undefined]);
  });

  it('shows its key in nothing that is printed, written as JSON or thrown', async () => {
    const client = await clientOf([cut, refusal(401, { code: 'authentication_failed' }), text(500, apiKey)], {
      retries: 0,
    });
    const errors = [await errorOf(client.me.get()), await errorOf(client.me.get()), await errorOf(client.me.get())];
    const call = client.me.get();
    await call.catch(() => undefined); // That it fails was reported above; here only its end is waited for.
    for (const shown of [client, ...errors, call, client.threads.list(), client.audit.export()]) {
      for (const text of [inspect(shown), inspect(shown, { showHidden: true, depth: 9 }), JSON.stringify(shown)]) {
        expect(text).not.toContain('verySecret');
      }
      expect(inspect(shown, { customInspect: false, showHidden: true, depth: 9 })).not.toContain('verySecret');
    }
    expect(inspect(client)).toBe(`Palimpsest { url: '${server.url}' }`);
    expect(errors.map(({ stack }) => stack).join()).not.toContain('verySecret');
  });

  it.each([
    [{ apiKey: 'plm_verySecret\n' }, 'apiKey must be an API key: printable characters without white space.'],
    [{ apiKey: '' }, 'apiKey must be an API key: printable characters without white space.'],
    [{ url: 'http://u:verySecret@x/' }, 'url must begin with http:// or https:// and hold no password.'],
    [{ url: 'file:///verySecret' }, 'url must begin with http:// or https:// and hold no password.'],
  ])('is not made with options that cannot be right, which are not repeated (%#)', async (wrong, message) => {
    server = await startScriptServer(success(pad));
    expect(() => new Palimpsest({ url: server.url, apiKey, ...wrong })).toThrow(new TypeError(message));
  });
});
