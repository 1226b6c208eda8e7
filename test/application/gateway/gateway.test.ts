import { randomUUID } from 'node:crypto';
import { describeFault } from '../../../src/application/faults/describe-fault.js';
import { BackendUnavailable, OutcomeUnknown, Overloaded } from '../../../src/application/faults/errors.js';
import { isRefusal } from '../../../src/domain/kernel/refusal.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

let app: MemoryApp;
let ada: { id: string; key: string };
beforeAll(async () => {
  app = await memoryApp();
  ada = await memberOf(app, 'Ada');
});

const issuesOf = (reply: Awaited<ReturnType<MemoryApp['call']>>) =>
  isRefusal(reply.result) ? reply.result.issues : undefined;

describe('the gateway', () => {
  it('refuses a missing, malformed and unknown key alike', async () => {
    const wrong = ada.key.slice(0, -1) + (ada.key.endsWith('A') ? 'B' : 'A');
    const replies = await Promise.all([undefined, '', 'x', wrong].map((key) => app.call(key, 'thread.create')));
    expect(new Set(replies.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(replies.map(refusalOf)).toEqual(Array(4).fill('authentication_failed'));
  });

  it('refuses a member what only administrators may do', async () =>
    expect(refusalOf(await app.call(ada.key, 'user.create', { name: 'Eve' }))).toBe('authorization_refused'));

  it('refuses a key without the scope', async () => {
    const narrow = dataOf<{ key: string }>(
      await app.call(ada.key, 'key.create', { name: 'narrow', scopes: ['keys:read'] }),
    );
    expect(refusalOf(await app.call(narrow.key, 'thread.create'))).toBe('authorization_refused');
  });

  it('does not let a key give more than it has', async () => {
    const narrow = dataOf<{ key: string }>(
      await app.call(ada.key, 'key.create', { name: 'narrow', scopes: ['keys:write'] }),
    );
    expect(refusalOf(await app.call(narrow.key, 'key.create', { name: 'wide', scopes: ['threads:read'] }))).toBe(
      'authorization_refused',
    );
  });

  it.each(['ownerId', 'userId', 'tenantId', 'isSystem', 'anything'])('refuses the unknown field %s', async (field) => {
    const reply = await app.call(ada.key, 'thread.create', { [field]: 'user_1' });
    expect(refusalOf(reply)).toBe('validation_failed');
    expect(issuesOf(reply)).toEqual([{ param: field, rule: 'unknown field' }]);
  });

  it('names fields and never values', async () => {
    const reply = await app.call(ada.key, 'thread.create', { title: { secret: 'canary-value' }, 'canary value': 1 });
    expect(refusalOf(reply)).toBe('validation_failed');
    expect(JSON.stringify(reply)).not.toContain('canary');
  });

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['an unknown field', { 'sk-live-CANARY1': 'x' }, '(name)'],
    ['a field inside another', { metadata: { 'sk-live-CANARY1': 7 } }, 'metadata.(name)'],
    ['what a bad text is under', { 'sk-live-CANARY1': 'a\u0000' }, '(name)'],
    ['a long field', { ['a'.repeat(33)]: 'x' }, '(name)'],
  ])('does not repeat %s that does not look like a name', async (_, input, param) => {
    const reply = await app.call(ada.key, 'thread.create', input);
    expect(reply.result).toMatchObject({ refused: 'validation_failed', param });
    expect(JSON.stringify(reply)).not.toMatch(/CANARY|sk-live/);
  });

  it.each([
    ['NUL', 'a\u0000b'],
    ['half of a surrogate pair', 'a\ud800'],
    ['nothing visible', '\u200b\u2060'],
    ['201 code points', '😀'.repeat(201)],
  ])('refuses a name with %s', async (_, title) =>
    expect(refusalOf(await app.call(ada.key, 'thread.create', { title }))).toBe('validation_failed'),
  );

  it('takes a name of 200 code points', async () =>
    expect(refusalOf(await app.call(ada.key, 'thread.create', { title: '😀'.repeat(200) }))).toBe('ok'));

  it('answers a malformed id like a missing one', async () => {
    const missing = await app.call(ada.key, 'thread.delete', { threadId: 'thread_00000000000000000000000000' });
    const malformed = await app.call(ada.key, 'thread.delete', { threadId: 'nonsense' });
    expect(malformed.result).toEqual(missing.result);
    expect(refusalOf(missing)).toBe('not_found');
  });

  it.each(['nonsense', 'a\u0000b', '\ud800'])(
    'names what else is wrong beside the id %j as beside any other',
    async (id) => {
      const append = (threadId: string, input: Readonly<Record<string, unknown>>) =>
        app.call(ada.key, 'message.append', { threadId, ...input });
      const absent = 'thread_00000000000000000000000000';
      for (const input of [{ role: 'user' }, { role: 'nobody', content: 'hi' }, { role: 'user', content: 'a\u0000' }]) {
        const malformed = await append(id, input);
        expect(refusalOf(malformed)).toBe('validation_failed');
        expect(malformed.result).toEqual((await append(absent, input)).result);
      }
      expect(refusalOf(await append(id, { role: 'user', content: 'hi' }))).toBe('not_found');
    },
  );

  it('returns the correlation id that was sent', async () => {
    const correlationId = randomUUID();
    expect((await app.call(ada.key, 'thread.create', {}, { correlationId })).correlationId).toBe(correlationId);
    expect((await app.call(ada.key, 'thread.create', { correlationId })).correlationId).toBe(correlationId);
  });

  it.each([
    { correlationId: 'x' },
    { idempotencyKey: 'x' },
    { idempotencyKey: '00000000-0000-0000-0000-000000000000' },
  ])('refuses %j', async (more) =>
    expect(refusalOf(await app.call(ada.key, 'thread.create', {}, more))).toBe('validation_failed'),
  );

  it.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, string>>, string, string]>([
    ['a correlation id that is a number', { correlationId: 7 }, {}, 'correlationId', 'must be a string'],
    ['a correlation id that is null', { correlationId: null }, {}, 'correlationId', 'must be a string'],
    [
      'a correlation id that its header is not',
      { correlationId: randomUUID() },
      { correlationId: randomUUID() },
      'correlationId',
      'the header and the field must be the same text',
    ],
    ['an idempotency key that is a number', { idempotencyKey: 7 }, {}, 'idempotencyKey', 'must be a string'],
    [
      'an idempotency key that its header is not',
      { idempotencyKey: randomUUID() },
      { idempotencyKey: randomUUID() },
      'idempotencyKey',
      'the header and the field must be the same text',
    ],
  ])('names %s, and the rule it breaks', async (_, input, more, param, rule) => {
    const reply = await app.call(ada.key, 'thread.create', input, more);
    expect(reply.result).toMatchObject({ refused: 'validation_failed', param, issues: [{ param, rule }] });
  });

  it('says internal_fault when the log fails, and shows nothing of the fault', async () => {
    const broken = await memoryApp();
    const member = await memberOf(broken, 'Ada');
    jest.spyOn(broken.log, 'append').mockRejectedValueOnce(new Error('canary'));
    const reply = await broken.call(member.key, 'thread.create');
    expect(refusalOf(reply)).toBe('internal_fault');
    expect(JSON.stringify(reply)).not.toContain('canary');
  });
});

describe('a log that is asked for too much at once', () => {
  const overloaded = async () => {
    const app = await memoryApp();
    const member = await memberOf(app, 'Ada');
    jest.spyOn(app.log, 'append').mockRejectedValue(new Overloaded('eventstore'));
    return { ...app, key: member.key };
  };

  it('is unavailable, with the time to come back', async () => {
    const { call, key } = await overloaded();
    expect((await call(key, 'thread.create')).result).toMatchObject({ refused: 'unavailable', retryAfterSeconds: 1 });
  });

  it('fails closed for an enrollment, with the time to come back', async () => {
    const { call, key } = await overloaded();
    const input = {
      harness: 'native',
      name: 'Scout',
      model: 'm',
      provider: 'anthropic',
      idempotencyKey: randomUUID(),
      credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
    };
    expect((await call(key, 'agent.enroll', input)).result).toMatchObject({
      refused: 'internal_fault',
      retryAfterSeconds: 1,
    });
  });
});

describe('what is logged of a fault', () => {
  it('is where it was thrown, and none of its words', () => {
    const described = describeFault(new TypeError('canary'));
    expect(described).toEqual({ fault: 'TypeError', at: expect.any(Array) as unknown });
    expect(JSON.stringify(described)).not.toContain('canary');
  });

  it('is the backend that is away, in a few words for every request that meets it', () => {
    expect(describeFault(new BackendUnavailable('redis'))).toEqual({ fault: 'BackendUnavailable', backend: 'redis' });
    expect(describeFault(new OutcomeUnknown('thread-1'))).toEqual({ fault: 'OutcomeUnknown', backend: 'eventstore' });
  });
});

describe('a revoked key', () => {
  it('stops working once it is asked for again, also while the wall clock is set back', async () => {
    let [now, elapsed] = [Date.now(), 0];
    const later = await memoryApp({ clock: { now: () => new Date(now) }, elapsed: () => elapsed });
    const member = await memberOf(later, 'Ada');
    const made = dataOf<{ id: string; key: string }>(await later.call(member.key, 'key.create', { name: 'worker' }));
    expect(refusalOf(await later.call(made.key, 'thread.create'))).toBe('ok');
    await later.call(member.key, 'key.revoke', { keyId: made.id });
    now -= 3_600_000;
    elapsed += 5_000;
    expect(refusalOf(await later.call(made.key, 'thread.create'))).toBe('authentication_failed');
  });
});

describe('an expired key', () => {
  it('stops working', async () => {
    let now = Date.now();
    const later = await memoryApp({ clock: { now: () => new Date(now) } });
    const member = await memberOf(later, 'Ada');
    const expiresAt = new Date(now + 60_000).toISOString();
    const made = dataOf<{ key: string }>(await later.call(member.key, 'key.create', { name: 'short', expiresAt }));
    expect(refusalOf(await later.call(made.key, 'thread.create'))).toBe('ok');
    now += 60_001;
    expect(refusalOf(await later.call(made.key, 'thread.create'))).toBe('authentication_failed');
  });

  it('cannot be made', async () => {
    const reply = await app.call(ada.key, 'key.create', { name: 'late', expiresAt: '2001-01-01T00:00:00Z' });
    expect(refusalOf(reply)).toBe('validation_failed');
  });
});

describe('an idempotency key', () => {
  it('makes a retry answer what was recorded, once', async () => {
    const more = { idempotencyKey: randomUUID() };
    const first = await app.call(ada.key, 'thread.create', { title: 'Plan' }, more);
    const second = await app.call(ada.key, 'thread.create', { title: 'Plan' }, more);
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(second.result).toMatchObject({ replayed: true });
    expect(first.result).not.toHaveProperty('replayed');
  });

  it('is a conflict with another request', async () => {
    const more = { idempotencyKey: randomUUID() };
    await app.call(ada.key, 'thread.create', { title: 'Plan' }, more);
    expect(refusalOf(await app.call(ada.key, 'thread.create', { title: 'Other' }, more))).toBe('conflict');
  });

  it('belongs to its owner: another tenant runs afresh', async () => {
    const bob = await memberOf(app, 'Bob');
    const more = { idempotencyKey: randomUUID() };
    const [hers, his] = await Promise.all([
      app.call(ada.key, 'thread.create', {}, more),
      app.call(bob.key, 'thread.create', {}, more),
    ]);
    expect(dataOf<{ id: string }>(hers).id).not.toBe(dataOf<{ id: string }>(his).id);
  });

  it('lets fifty submissions at once make one thing', async () => {
    const more = { idempotencyKey: randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => app.call(ada.key, 'thread.create', { title: 'One' }, more)),
    );
    expect(new Set(replies.map((reply) => dataOf<{ id: string }>(reply).id)).size).toBe(1);
    expect(replies.filter(({ result }) => !('replayed' in result))).toHaveLength(1);
  });

  it('shows a plain key only in the first answer', async () => {
    const more = { idempotencyKey: randomUUID() };
    const first = await app.call(ada.key, 'key.create', { name: 'once' }, more);
    const second = await app.call(ada.key, 'key.create', { name: 'once' }, more);
    expect(dataOf(first)).toHaveProperty('key');
    expect(dataOf(second)).not.toHaveProperty('key');
    expect(dataOf(second)).toMatchObject({ id: dataOf(first)['id'] });
  });
});
