import { randomUUID } from 'node:crypto';
import { BackendUnavailable } from '../../../src/application/faults/errors.js';
import { isRefusal } from '../../../src/domain/kernel/refusal.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

let now = Date.parse('2026-01-01T00:00:00Z');
let app: MemoryApp;
let ada: { id: string; key: string };
let pad: { scratchpadId: string };
beforeAll(async () => {
  app = await memoryApp({ clock: { now: () => new Date(now) } });
  ada = await memberOf(app, 'Ada');
});
beforeEach(async () => {
  pad = { scratchpadId: await newPad() };
});

async function newPad(): Promise<string> {
  const { id: threadId } = dataOf<{ id: string }>(await app.call(ada.key, 'thread.create'));
  return dataOf<{ id: string }>(await app.call(ada.key, 'scratchpad.create', { threadId })).id;
}

async function boundKey(padRole: string, scratchpadId = pad.scratchpadId): Promise<string> {
  return dataOf<{ key: string }>(await app.call(ada.key, 'key.create', { name: padRole, scratchpadId, padRole })).key;
}

const append = (key: string, kind: string, fields: Record<string, unknown> = {}, content = kind) =>
  app.call(key, 'scratchpad.entry.append', { ...pad, kind, content, fields });

describe('an entry', () => {
  it.each([
    ['note', {}],
    ['strategy', {}],
    ['claim', { subject: 'whales' }],
    ['verified', { source: 'https://example.org' }],
    ['unverified', {}],
    ['failed_source', { source: 'https://example.org', reason: 'gone' }],
    ['directive', { to: 'everyone' }],
  ])('can be a %s', async (kind, fields) =>
    expect(dataOf(await append(ada.key, kind, fields))).toMatchObject({ kind }),
  );

  it.each([
    ['verified', {}, 'fields.source'],
    ['verified', { source: '' }, 'fields.source'],
    ['claim', { subject: 'x', leaseSeconds: 0 }, 'fields.leaseSeconds'],
    ['note', { source: 'x' }, 'fields.source'],
    ['tombstone', { entryId: 'nonsense' }, 'fields.entryId'],
  ])('of kind %s does not take %j', async (kind, fields, param) => {
    const { result } = await append(ada.key, kind, fields);
    expect(isRefusal(result) && [result.refused, result.param]).toEqual(['validation_failed', param]);
  });

  it('of no declared kind is refused', async () =>
    expect(refusalOf(await append(ada.key, 'rumour'))).toBe('validation_failed'));

  it('is written by the key that wrote it, whatever the body says', async () => {
    const reply = await app.call(ada.key, 'scratchpad.entry.append', {
      ...pad,
      content: 'x',
      author: { id: 'someone' },
    });
    expect(refusalOf(reply)).toBe('validation_failed');
  });

  it('is listed by kind and by author, page by page', async () => {
    const worker = await boundKey('worker');
    for (let n = 0; n < 7; n += 1) {
      await append(ada.key, 'note', {}, `hers ${n}`);
      await append(worker, 'verified', { source: 's' }, `found ${n}`);
    }
    const seen: string[] = [];
    for (let cursor: string | undefined | null; cursor !== null;) {
      const page = await app.call(ada.key, 'scratchpad.entry.list', { ...pad, kind: 'verified', limit: 3, cursor });
      seen.push(...dataOf<{ content: string }[]>(page).map(({ content }) => content));
      cursor = 'page' in page.result ? page.result.page.nextCursor : null;
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, n) => `found ${n}`));
    const [first] = dataOf<{ author: { id: string } }[]>(await app.call(ada.key, 'scratchpad.entry.list', { ...pad }));
    const hers = await app.call(ada.key, 'scratchpad.entry.list', { ...pad, author: first?.author.id });
    expect(dataOf<{ content: string }[]>(hers).map(({ content }) => content)).toEqual(
      Array.from({ length: 7 }, (_, n) => `hers ${n}`),
    );
  });
});

describe('large entries', () => {
  const content = 'x'.repeat(60_000);
  const appendMany = async (count: number) => {
    for (let n = 0; n < count; n += 1) await append(ada.key, 'note', {}, content);
  };

  it('stand in a view as far as a mebibyte goes, the last of them', async () => {
    await appendMany(40);
    const view = dataOf<{ text: string; entryCount: number; earlier: number }>(
      await app.call(ada.key, 'scratchpad.view', pad),
    );
    expect(view).toMatchObject({ entryCount: 40, earlier: 23 });
    expect(view.text).toContain('(23 earlier entries are not shown)\n[24] x');
    expect(view.text.match(/\[\d+\]/g)).toEqual(Array.from({ length: 17 }, (_, n) => `[${n + 24}]`));
  });

  it('make a page that looks for others a short one, and the next goes on', async () => {
    await appendMany(250);
    await append(ada.key, 'verified', { source: 's' });
    const find = (cursor?: string) =>
      app.call(ada.key, 'scratchpad.entry.list', { ...pad, kind: 'verified', limit: 3, cursor });
    const { result } = await find();
    expect(result).toMatchObject({ data: [], page: { nextCursor: expect.any(String) as unknown } });
    const next = await find(('page' in result && result.page.nextCursor) || undefined);
    expect(next.result).toMatchObject({ data: [{ index: 251 }], page: { nextCursor: null } });
  });
});

describe('a claim', () => {
  it('is a conflict for the second worker until it runs out, in whatever spelling', async () => {
    const [one, two] = [await boundKey('worker'), await boundKey('worker')];
    expect(refusalOf(await append(one, 'claim', { subject: 'Café', leaseSeconds: 60 }))).toBe('ok');
    expect(refusalOf(await append(two, 'claim', { subject: ' Cafe\u0301 ' }))).toBe('conflict');
    expect(refusalOf(await append(two, 'claim', { subject: 'Tea' }))).toBe('ok');
    now += 60_000;
    expect(refusalOf(await append(two, 'claim', { subject: 'Café' }))).toBe('ok');
  });

  it('that was taken by a request cut short is not had by its retry once another worker has it', async () => {
    const [one, two] = [await boundKey('worker'), await boundKey('worker')];
    const key = randomUUID();
    const claim = (worker: string, idempotencyKey?: string) =>
      app.call(
        worker,
        'scratchpad.entry.append',
        { ...pad, kind: 'claim', content: 'mine', fields: { subject: 'whales', leaseSeconds: 60 } },
        { idempotencyKey },
      );
    const push = jest.spyOn(app.working.ledger, 'append').mockRejectedValueOnce(new BackendUnavailable('redis'));
    expect(refusalOf(await claim(one, key))).toBe('unavailable');
    push.mockRestore();
    now += 60_000;
    const second = randomUUID();
    expect(refusalOf(await claim(two, second))).toBe('ok');
    expect(refusalOf(await claim(one, key))).toBe('conflict');
    now += 60_000;
    expect(refusalOf(await claim(one, key))).toBe('ok');
    expect((await claim(two, second)).result).toMatchObject({ replayed: true });
  });

  it('is won by one of many at once', async () => {
    const workers = await Promise.all(Array.from({ length: 8 }, () => boundKey('worker')));
    const replies = await Promise.all(workers.map((key) => append(key, 'claim', { subject: 'one thing' })));
    expect(replies.map(refusalOf).filter((outcome) => outcome === 'ok')).toHaveLength(1);
    const listed = dataOf<unknown[]>(await app.call(ada.key, 'scratchpad.entry.list', { ...pad, kind: 'claim' }));
    expect(listed).toHaveLength(1);
  });

  it("cannot be begun on another tenant's scratchpad", async () => {
    const eve = await memberOf(app, 'Eve');
    expect(refusalOf(await append(eve.key, 'claim', { subject: 'hers' }))).toBe('not_found');
    expect(refusalOf(await append(ada.key, 'claim', { subject: 'hers' }))).toBe('ok');
  });
});

describe('a view', () => {
  it('counts only what was verified and not taken back as a finding', async () => {
    await append(ada.key, 'unverified');
    await append(ada.key, 'verified', { source: 's' });
    const { id } = dataOf<{ id: string }>(await append(ada.key, 'verified', { source: 's' }));
    await append(ada.key, 'tombstone', { entryId: id });
    const view = dataOf(await app.call(ada.key, 'scratchpad.view', pad));
    expect(view).toMatchObject({ summary: { findings: 1, unverified: 1, failedSources: 0, claims: 0 } });
    expect(view['text']).toContain('[2] (verified) verified');
  });
});

describe('a key bound to a scratchpad', () => {
  it('acts on its own pad and on nothing else', async () => {
    const worker = await boundKey('worker');
    const other = await newPad();
    expect(refusalOf(await append(worker, 'note'))).toBe('ok');
    expect(refusalOf(await app.call(worker, 'scratchpad.view', { scratchpadId: other }))).toBe('not_found');
    expect(refusalOf(await app.call(worker, 'scratchpad.list'))).toBe('authorization_refused');
    expect(refusalOf(await app.call(worker, 'thread.create'))).toBe('authorization_refused');
    expect(refusalOf(await app.call(worker, 'key.create', { name: 'more' }))).toBe('authorization_refused');
  });

  it('as a worker does not plan, clear or delete', async () => {
    const worker = await boundKey('worker');
    for (const kind of ['strategy', 'directive'])
      expect(refusalOf(await append(worker, kind))).toBe('authorization_refused');
    const inputs = {
      'scratchpad.content.set': { content: 'x' },
      'scratchpad.entry.clear': {},
      'scratchpad.delete': {},
    };
    for (const [name, input] of Object.entries(inputs)) {
      expect(refusalOf(await app.call(worker, name, { ...pad, ...input }))).toBe('authorization_refused');
    }
  });

  it('as a supervisor plans and directs, and does not claim', async () => {
    const supervisor = await boundKey('supervisor');
    expect(refusalOf(await app.call(supervisor, 'scratchpad.content.set', { ...pad, content: 'plan' }))).toBe('ok');
    expect(refusalOf(await append(supervisor, 'directive'))).toBe('ok');
    expect(refusalOf(await append(supervisor, 'claim', { subject: 'x' }))).toBe('authorization_refused');
  });

  it("is not made for another tenant's pad", async () => {
    const eve = await memberOf(app, 'Eve');
    expect(refusalOf(await app.call(eve.key, 'key.create', { name: 'x', ...pad }))).toBe('not_found');
  });
});

describe('the scratchpad tools', () => {
  it('act on the pad that the key is bound to', async () => {
    const [supervisor, worker] = [await boundKey('supervisor'), await boundKey('worker')];
    expect(dataOf(await app.call(supervisor, 'update_scratchpad', { content: 'The plan' }))).toEqual({ revision: 1 });
    expect(dataOf(await app.call(worker, 'append_scratchpad', { note: 'Done' }))).toEqual({ index: 1 });
    const { text } = dataOf<{ text: string }>(await app.call(worker, 'read_scratchpad'));
    expect(text).toBe('Content:\nThe plan\n\nEntries:\n[1] Done');
  });

  it('act on the pad that the door names, for its owner', async () => {
    const bound = { scratchpad: pad.scratchpadId };
    expect(refusalOf(await app.call(ada.key, 'append_scratchpad', { note: 'Hello' }, bound))).toBe('ok');
    const eve = await memberOf(app, 'Eve');
    for (const scratchpad of [pad.scratchpadId, 'nonsense']) {
      expect(refusalOf(await app.call(eve.key, 'append_scratchpad', { note: 'Hello' }, { scratchpad }))).toBe(
        'not_found',
      );
    }
    const worker = await boundKey('worker');
    expect(refusalOf(await app.call(worker, 'read_scratchpad', {}, { scratchpad: await newPad() }))).toBe('not_found');
  });

  it('say what is missing when nothing is bound', async () =>
    expect(refusalOf(await app.call(ada.key, 'read_scratchpad'))).toBe('precondition_failed'));

  it('never take an id', async () =>
    expect(refusalOf(await app.call(ada.key, 'append_scratchpad', { ...pad, note: 'x' }))).toBe('validation_failed'));

  it('let a worker not touch the plan', async () =>
    expect(refusalOf(await app.call(await boundKey('worker'), 'update_scratchpad', { content: 'x' }))).toBe(
      'authorization_refused',
    ));

  it('do not take one idempotency key for two pads', async () => {
    const more = { idempotencyKey: randomUUID() };
    const [one, two] = [await newPad(), await newPad()];
    for (const scratchpad of [one, two])
      await app.call(ada.key, 'append_scratchpad', { note: 'once' }, { ...more, scratchpad });
    for (const scratchpadId of [one, two]) {
      expect(dataOf(await app.call(ada.key, 'scratchpad.entry.list', { scratchpadId }))).toHaveLength(1);
    }
  });
});
