import { randomUUID } from 'node:crypto';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

let app: MemoryApp;
let ada: { id: string; key: string };
let bob: { id: string; key: string };
beforeAll(async () => {
  app = await memoryApp();
  ada = await memberOf(app, 'Ada');
  bob = await memberOf(app, 'Bob');
});

const idOf = (reply: Awaited<ReturnType<MemoryApp['call']>>): string => dataOf<{ id: string }>(reply).id;
const newThread = async () => idOf(await app.call(ada.key, 'thread.create'));
async function newPad(): Promise<{ threadId: string; scratchpadId: string }> {
  const threadId = await newThread();
  return { threadId, scratchpadId: idOf(await app.call(ada.key, 'scratchpad.create', { threadId })) };
}
const entriesOf = async (scratchpadId: string) =>
  dataOf<{ content: string; index: number }[]>(
    await app.call(ada.key, 'scratchpad.entry.list', { scratchpadId, limit: 100 }),
  );
const viewOf = async (scratchpadId: string) =>
  dataOf<{ text: string }>(await app.call(ada.key, 'scratchpad.view', { scratchpadId })).text;

describe('a scratchpad', () => {
  it('is the only one of its thread', async () => {
    const { threadId } = await newPad();
    expect(refusalOf(await app.call(ada.key, 'scratchpad.create', { threadId }))).toBe('conflict');
  });

  it('answers a change of its metadata as it is now, when no read model shows it yet', async () => {
    const { threadId, scratchpadId } = await newPad();
    await app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content: 'The plan' });
    for (const content of ['first', 'second'])
      await app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content });
    const updated = await app.call(ada.key, 'scratchpad.metadata.set', { scratchpadId, metadata: { team: 'a' } });
    expect(dataOf(updated)).toMatchObject({
      id: scratchpadId,
      threadId,
      ownerId: ada.id,
      metadata: { team: 'a' },
      contentRevision: 1,
      entryCount: 2,
    });
  });

  it('is the only one of its thread, also in a race', async () => {
    const threadId = await newThread();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => app.call(ada.key, 'scratchpad.create', { threadId })),
    );
    expect(replies.map(refusalOf).filter((outcome) => outcome === 'ok')).toHaveLength(1);
    expect(new Set(replies.map(refusalOf))).toEqual(new Set(['ok', 'conflict']));
  });

  it("is not made on another tenant's thread", async () => {
    const threadId = await newThread();
    expect(refusalOf(await app.call(bob.key, 'scratchpad.create', { threadId }))).toBe('not_found');
  });

  it('views as two sections, empty at first', async () => {
    const { scratchpadId } = await newPad();
    expect(await viewOf(scratchpadId)).toBe('Content:\n(empty)\n\nEntries:\n(none)');
  });

  it('views content and numbered entries', async () => {
    const { scratchpadId } = await newPad();
    await app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content: 'The plan' });
    for (const content of ['first', 'second'])
      await app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content });
    expect(await viewOf(scratchpadId)).toBe('Content:\nThe plan\n\nEntries:\n[1] first\n[2] second');
  });

  it('takes an entry as its very first write, and after a clear', async () => {
    const { scratchpadId } = await newPad();
    expect(refusalOf(await app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content: 'a' }))).toBe('ok');
    expect(dataOf(await app.call(ada.key, 'scratchpad.entry.clear', { scratchpadId }))).toMatchObject({ count: 1 });
    expect(refusalOf(await app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content: 'b' }))).toBe('ok');
    expect((await entriesOf(scratchpadId)).map(({ content }) => content)).toEqual(['b']);
  });

  it('keeps every one of fifty entries appended at once, in one order', async () => {
    const { scratchpadId } = await newPad();
    await app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content: 'untouched' });
    const words = Array.from({ length: 50 }, (_, n) => `entry ${n}`);
    await Promise.all(words.map((content) => app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content })));
    const entries = await entriesOf(scratchpadId);
    expect(entries.map(({ index }) => index)).toEqual(words.map((_, n) => n + 1));
    expect(entries.map(({ content }) => content).sort()).toEqual([...words].sort());
    expect(await viewOf(scratchpadId)).toContain('Content:\nuntouched');
  });

  it('changes content at the revision that was read, and names the one it has', async () => {
    const { scratchpadId } = await newPad();
    const set = (content: string, ifMatch?: string) =>
      app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content }, { ifMatch });
    expect(dataOf(await set('one', '"r0"'))).toMatchObject({ revision: 1 });
    const stale = await set('two', '"r0"');
    expect(refusalOf(stale)).toBe('conflict');
    expect(stale.result).toMatchObject({ facts: { revision: 1 } });
  });

  it('lets the last writer win without If-Match, one revision each', async () => {
    const { scratchpadId } = await newPad();
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content: `v${n}` }),
      ),
    );
    expect(replies.map((reply) => dataOf<{ revision: number }>(reply).revision).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });
});

describe('a deleted scratchpad', () => {
  it('is gone from every operation and leaves nothing in the scratchpad store', async () => {
    const { scratchpadId } = await newPad();
    await app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content: 'secret' });
    expect(refusalOf(await app.call(ada.key, 'scratchpad.delete', { scratchpadId }))).toBe('ok');
    expect(await app.working.keys.exists({ ownerId: ada.id, scratchpadId })).toBe(false);
    const inputs = {
      'scratchpad.content.get': {},
      'scratchpad.content.set': { content: 'late' },
      'scratchpad.content.clear': {},
      'scratchpad.entry.append': { content: 'late' },
      'scratchpad.entry.list': {},
      'scratchpad.entry.clear': {},
      'scratchpad.clear': {},
      'scratchpad.view': {},
      'scratchpad.metadata.set': { metadata: {} },
    };
    for (const [name, input] of Object.entries(inputs)) {
      expect([name, refusalOf(await app.call(ada.key, name, { scratchpadId, ...input }))]).toEqual([name, 'not_found']);
    }
    expect(await app.working.keys.exists({ ownerId: ada.id, scratchpadId })).toBe(false);
  });

  it('is dead at once, also when its delete came with a key that was used on it before', async () => {
    const { scratchpadId } = await newPad();
    const idempotencyKey = randomUUID();
    await app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content: 'words' }, { idempotencyKey });
    expect(refusalOf(await app.call(ada.key, 'scratchpad.delete', { scratchpadId }, { idempotencyKey }))).toBe('ok');
    expect(await app.working.keys.exists({ ownerId: ada.id, scratchpadId })).toBe(false);
    const late = await app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content: 'late' });
    expect(refusalOf(late)).toBe('not_found');
  });

  it('can be deleted again, and makes room for a new one with a new id', async () => {
    const { threadId, scratchpadId } = await newPad();
    for (const _ of [1, 2])
      expect(refusalOf(await app.call(ada.key, 'scratchpad.delete', { scratchpadId }))).toBe('ok');
    const next = idOf(await app.call(ada.key, 'scratchpad.create', { threadId }));
    expect(next).not.toBe(scratchpadId);
  });

  it('goes with its thread', async () => {
    const { threadId, scratchpadId } = await newPad();
    await app.call(ada.key, 'thread.delete', { threadId });
    expect(await app.working.keys.exists({ ownerId: ada.id, scratchpadId })).toBe(false);
    expect(refusalOf(await app.call(ada.key, 'scratchpad.view', { scratchpadId }))).toBe('not_found');
  });

  it('takes none of the entries that are appended while it is deleted', async () => {
    for (let round = 0; round < 50; round += 1) {
      const { scratchpadId } = await newPad();
      await Promise.all([
        ...Array.from({ length: 8 }, (_, n) =>
          app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content: `${n}` }),
        ),
        app.call(ada.key, 'scratchpad.delete', { scratchpadId }),
      ]);
      expect(await app.working.keys.exists({ ownerId: ada.id, scratchpadId })).toBe(false);
    }
  });
});
