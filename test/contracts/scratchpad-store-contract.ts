import { createHash, randomUUID } from 'node:crypto';
import type { Entry } from '../../src/application/ports/ledger-store.js';
import type { PadRef } from '../../src/application/ports/pad-keys.js';
import type { ScratchpadStore } from '../../src/application/ports/scratchpad-store.js';

export const at = '2026-01-02T03:04:05.678Z';
export const later = '2026-01-02T03:04:06.789Z';
export const newPad = (): PadRef => ({ ownerId: `user_${randomUUID()}`, scratchpadId: `sp_${randomUUID()}` });

export const entry = (content = 'seen the shore'): Entry => ({
  id: `ent_${randomUUID()}`,
  kind: 'note',
  content,
  fields: { source: 'https://example.org', weight: 3 },
  author: { type: 'key', id: 'key_1' },
  bytes: Buffer.byteLength(content),
  sha256: createHash('sha256').update(content).digest('hex'),
  at,
  correlationId: randomUUID(),
});

/** What an empty ledger answers. */
export const nothing = { entries: [], lost: [], duplicates: [], length: 0, holes: 0, generation: 0, layoutVersion: 0 };

/** What every scratchpad store promises. */
export function describeScratchpadStore(name: string, open: () => ScratchpadStore): void {
  let store: ScratchpadStore;
  const made = async (): Promise<PadRef> => {
    const pad = newPad();
    await store.keys.create(pad, at);
    return pad;
  };
  const contentsOf = async (pad: PadRef) =>
    (await store.ledger.read(pad, 0, 1_000))?.entries.map(({ content }) => content);

  describe(`a scratchpad in a store (${name})`, () => {
    beforeAll(() => {
      store = open();
    });

    it('begins empty', async () => {
      const pad = await made();
      await expect(store.keys.exists(pad)).resolves.toBe(true);
      await expect(store.content.read(pad)).resolves.toEqual({ revision: 0, content: '', at });
      await expect(store.ledger.read(pad, 0, 10)).resolves.toEqual(nothing);
    });

    it('is left as it is when it is made a second time', async () => {
      const pad = await made();
      await store.ledger.append(pad, entry('kept'));
      await store.content.stage(pad, 1, 'e1', 'kept too');
      await store.content.promote(pad, 1, 'e1', later);
      await store.keys.create(pad, later);
      await expect(contentsOf(pad)).resolves.toEqual(['kept']);
      await expect(store.content.read(pad)).resolves.toEqual({ revision: 1, content: 'kept too', at: later });
    });

    it('takes the first entry right after it was made', async () => {
      await expect(store.ledger.append(await made(), entry())).resolves.toEqual({ index: 1, generation: 0 });
    });

    it('gives entries back as they were appended, with their index', async () => {
      const pad = await made();
      const entries = [entry('one'), entry('Grüße\n"世界" 🎉'), entry('')];
      for (const one of entries) await store.ledger.append(pad, one);
      await expect(store.ledger.read(pad, 0, 10)).resolves.toEqual({
        ...nothing,
        entries: entries.map((one, place) => ({ ...one, index: place + 1 })),
        length: 3,
      });
    });

    it('lists a page of entries after an index', async () => {
      const pad = await made();
      for (let number = 1; number <= 7; number += 1) await store.ledger.append(pad, entry(String(number)));
      const page = await store.ledger.read(pad, 3, 2);
      expect(page?.entries.map(({ index, content }) => [index, content])).toEqual([
        [4, '4'],
        [5, '5'],
      ]);
      expect(page?.length).toBe(7);
      for (const [after, limit] of [
        [7, 10],
        [0, 0],
      ] as const)
        await expect(store.ledger.read(pad, after, limit)).resolves.toEqual({ ...nothing, length: 7 });
    });

    it('gives the last elements, so many of them or so many bytes', async () => {
      const pad = await made();
      await expect(store.ledger.tail(pad, 10, 1_000)).resolves.toEqual(nothing);
      for (let number = 1; number <= 40; number += 1)
        await store.ledger.append(pad, entry(String(number).repeat(2_000)));
      const indexes = async (limit: number, bytes: number) =>
        (await store.ledger.tail(pad, limit, bytes))?.entries.map(({ index }) => index);
      await expect(indexes(3, 1_000_000)).resolves.toEqual([38, 39, 40]);
      await expect(indexes(100, 1_000_000)).resolves.toHaveLength(40);
      await expect(indexes(100, 10_000)).resolves.toEqual([39, 40]);
      await expect(indexes(100, 1)).resolves.toEqual([40]);
      await expect(store.ledger.tail(pad, 1, 1)).resolves.toMatchObject({ length: 40, generation: 0 });
      await expect(store.ledger.tail(newPad(), 10, 1_000)).resolves.toBeUndefined();
    });

    it('gives large entries whole and in order, however many are asked for', async () => {
      const pad = await made();
      const large = Array.from({ length: 60 }, (_, number) => entry(String(number).padEnd(60_000, '.')));
      for (const one of large) await store.ledger.append(pad, one);
      const page = await store.ledger.read(pad, 5, 50);
      expect(page?.entries.map(({ id }) => id)).toEqual(large.slice(5, 55).map(({ id }) => id));
      expect(page?.entries.map(({ index }) => index)).toEqual(Array.from({ length: 50 }, (_, n) => n + 6));
    });

    it('keeps every one of many entries that are appended at the same time, in one order', async () => {
      const pad = await made();
      const writers = Array.from({ length: 200 }, (_, number) => entry(String(number)));
      const indexes = (await Promise.all(writers.map((one) => store.ledger.append(pad, one)))).map(
        (pushed) => pushed?.index,
      );
      expect(new Set(indexes).size).toBe(200);
      const found = (await store.ledger.read(pad, 0, 1_000))?.entries ?? [];
      expect(found).toHaveLength(200);
      for (const [number, one] of writers.entries()) {
        expect(found[(indexes[number] ?? 0) - 1]).toEqual({ ...one, index: indexes[number] });
      }
    });

    it('shows staged content only once it is promoted', async () => {
      const pad = await made();
      await expect(store.content.stage(pad, 1, 'e1', 'the plan')).resolves.toBe(true);
      await expect(store.content.read(pad)).resolves.toMatchObject({ revision: 0, content: '' });
      await store.content.promote(pad, 1, 'e1', later);
      await expect(store.content.read(pad)).resolves.toEqual({ revision: 1, content: 'the plan', at: later });
    });

    it('promotes the text of the event that was stored, not that of a rival', async () => {
      const pad = await made();
      await store.content.stage(pad, 1, 'mine', 'mine');
      await store.content.stage(pad, 1, 'rival', 'rival');
      await store.content.promote(pad, 1, 'mine', later);
      await store.content.promote(pad, 1, 'rival', later);
      await expect(store.content.read(pad)).resolves.toMatchObject({ revision: 1, content: 'mine' });
    });

    it('never goes back to an earlier revision', async () => {
      const pad = await made();
      await store.content.stage(pad, 2, 'slow', 'slow');
      await store.content.stage(pad, 10, 'fast', 'fast');
      await store.content.promote(pad, 10, 'fast', later);
      await store.content.promote(pad, 2, 'slow', at);
      await expect(store.content.read(pad)).resolves.toEqual({ revision: 10, content: 'fast', at: later });
    });

    it('promotes a second time without any effect', async () => {
      const pad = await made();
      await store.content.stage(pad, 1, 'e1', 'the plan');
      await store.content.promote(pad, 1, 'e1', later);
      await store.content.promote(pad, 1, 'e1', at);
      await expect(store.content.read(pad)).resolves.toEqual({ revision: 1, content: 'the plan', at: later });
    });

    it('keeps a later staged text while an earlier one is promoted', async () => {
      const pad = await made();
      await store.content.stage(pad, 2, 'next', 'next');
      await store.content.stage(pad, 1, 'now', 'now');
      await store.content.promote(pad, 1, 'now', later);
      await store.content.promote(pad, 2, 'next', later);
      await expect(store.content.read(pad)).resolves.toMatchObject({ revision: 2, content: 'next' });
    });

    it('forgets a staged text whose event was not stored', async () => {
      const pad = await made();
      await store.content.stage(pad, 1, 'e1', 'not to be');
      await store.content.unstage(pad, 1, 'e1');
      await store.content.promote(pad, 1, 'e1', later);
      await expect(store.content.read(pad)).resolves.toMatchObject({ revision: 0, content: '' });
    });

    it('keeps a text of a megabyte', async () => {
      const pad = await made();
      const text = 'x'.repeat(1024 * 1024);
      await store.content.stage(pad, 1, 'e1', text);
      await store.content.promote(pad, 1, 'e1', later);
      expect((await store.content.read(pad))?.content === text).toBe(true);
    });

    it('clears its entries and nothing else, and answers what it removed', async () => {
      const pad = await made();
      await store.content.stage(pad, 1, 'e1', 'stays');
      await store.content.promote(pad, 1, 'e1', later);
      await store.ledger.append(pad, entry());
      const last = entry();
      await store.ledger.append(pad, last);
      await expect(store.ledger.clear(pad, 'c1')).resolves.toEqual({ count: 2, lastEntryId: last.id });
      await expect(store.ledger.read(pad, 0, 10)).resolves.toEqual({ ...nothing, generation: 1 });
      await expect(store.content.read(pad)).resolves.toMatchObject({ content: 'stays' });
      await store.ledger.append(pad, entry('after'));
      await expect(contentsOf(pad)).resolves.toEqual(['after']);
    });

    it('clears nothing where nothing is', async () => {
      await expect(store.ledger.clear(await made(), 'c1')).resolves.toEqual({ count: 0 });
    });

    it('answers the same clear the same way, and keeps what was appended since', async () => {
      const pad = await made();
      const last = entry();
      await store.ledger.append(pad, last);
      const asked = await Promise.all([1, 2, 3].map(() => store.ledger.clear(pad, 'c1')));
      await store.ledger.append(pad, entry('since'));
      asked.push(await store.ledger.clear(pad, 'c1'));
      expect(asked).toEqual(asked.map(() => ({ count: 1, lastEntryId: last.id })));
      await expect(contentsOf(pad)).resolves.toEqual(['since']);
    });

    it('counts every entry in exactly one place while it is cleared under appends', async () => {
      const pad = await made();
      const appends = Array.from({ length: 100 }, () => store.ledger.append(pad, entry()));
      const cleared = await store.ledger.clear(pad, 'c1');
      await Promise.all(appends);
      expect((cleared?.count ?? 0) + ((await store.ledger.read(pad, 0, 0))?.length ?? 0)).toBe(100);
    });

    it('pushes a keyed entry once, and answers what it was', async () => {
      const pad = await made();
      await store.ledger.append(pad, entry('before'));
      const keyed = entry('once');
      const first = await store.ledger.append(pad, keyed, { digest: 'abc' });
      const again = await store.ledger.append(pad, { ...keyed, at: later }, { digest: 'def' });
      expect(first).toEqual({ index: 2, generation: 0 });
      expect(again).toEqual({ index: 2, generation: 0, earlier: { at, digest: 'abc' } });
      await expect(contentsOf(pad)).resolves.toEqual(['before', 'once']);
    });

    it('pushes a keyed entry once, however many ask for it at once, and remembers it over a clear', async () => {
      const pad = await made();
      const keyed = entry('once');
      const pushed = await Promise.all(
        Array.from({ length: 20 }, () => store.ledger.append(pad, keyed, { digest: 'abc' })),
      );
      expect(pushed.filter((one) => one?.earlier === undefined)).toHaveLength(1);
      await store.ledger.clear(pad, 'c1');
      await expect(store.ledger.append(pad, keyed, { digest: 'abc' })).resolves.toMatchObject({
        index: 1,
        generation: 0,
      });
      await expect(contentsOf(pad)).resolves.toEqual([]);
    });

    it('forgets all but the latest keyed entries', async () => {
      const pad = await made();
      const entries = Array.from({ length: 10 }, (_, n) => ({ ...entry(), at: `2026-01-02T03:04:0${n}.000Z` }));
      for (const one of entries) await store.ledger.append(pad, one, { digest: 'abc' });
      await store.repair.pruneIdempotencyKeys(pad, 3);
      await expect(store.keys.state(pad)).resolves.toMatchObject({ idempotencyKeys: 3 });
      const [first = entry(), last = entry()] = [entries[0], entries[9]];
      await expect(store.ledger.append(pad, last, { digest: 'abc' })).resolves.toMatchObject({ index: 10 });
      await expect(store.ledger.append(pad, first, { digest: 'abc' })).resolves.toEqual({ index: 11, generation: 0 });
    });

    it('goes on after the indexes that a lost ledger had assigned', async () => {
      const pad = newPad();
      await store.keys.create(pad, at, { generation: 2, length: 2_500 });
      await expect(store.ledger.append(pad, entry())).resolves.toEqual({ index: 2_501, generation: 2 });
      const page = await store.ledger.read(pad, 2_498, 10);
      expect(page).toMatchObject({ lost: [2_499, 2_500], length: 2_501, holes: 2_500, generation: 2 });
      expect(page?.entries.map(({ index }) => index)).toEqual([2_501]);
    });

    it('is fast-forwarded once: missing indexes become holes, and what is there stays', async () => {
      const pad = await made();
      await store.ledger.append(pad, entry('kept'));
      await Promise.all([1, 2].map(() => store.repair.fastForward(pad, { generation: 0, length: 3 })));
      await store.ledger.append(pad, entry('next'));
      await store.repair.fastForward(pad, { generation: 0, length: 3 });
      await expect(contentsOf(pad)).resolves.toEqual(['kept', 'next']);
      await expect(store.ledger.read(pad, 0, 10)).resolves.toMatchObject({ lost: [2, 3], length: 4, holes: 2 });
    });

    it('lets a ledger of an earlier generation give way to a later one, never the other way round', async () => {
      const pad = await made();
      await store.ledger.append(pad, entry('cleared once'));
      await store.repair.fastForward(pad, { generation: 1, length: 0 });
      await expect(store.ledger.read(pad, 0, 10)).resolves.toEqual({ ...nothing, generation: 1 });
      await store.ledger.append(pad, entry('kept'));
      await store.repair.fastForward(pad, { generation: 0, length: 9 });
      await expect(contentsOf(pad)).resolves.toEqual(['kept']);
    });

    it('puts its elements in another order, once, and only as long as it is what was read', async () => {
      const pad = await made();
      for (const content of ['one', 'two', 'three']) await store.ledger.append(pad, entry(content));
      await store.repair.fastForward(pad, { generation: 0, length: 4 });
      const keyed = entry('keyed');
      await store.ledger.append(pad, keyed, { digest: 'd' });
      const read = { generation: 0, length: 5, layoutVersion: 0 };
      for (const other of [{ generation: 1 }, { length: 4 }, { layoutVersion: 1 }]) {
        await expect(store.repair.reorder(pad, { ...read, ...other }, [1], [])).resolves.toBe(false);
      }
      await expect(store.repair.reorder(pad, read, [5, 0, 0, 2, 3], [keyed.id])).resolves.toBe(true);
      await expect(store.repair.reorder(pad, read, [1], [])).resolves.toBe(false);
      const page = await store.ledger.read(pad, 0, 10);
      expect(page).toMatchObject({ lost: [2, 3], length: 5, holes: 2, generation: 0, layoutVersion: 1 });
      expect(page?.entries.map(({ index, content }) => [index, content])).toEqual([
        [1, 'keyed'],
        [4, 'two'],
        [5, 'three'],
      ]);
      await expect(store.ledger.append(pad, keyed, { digest: 'd' })).resolves.toEqual({ index: 6, generation: 0 });
    });

    it('moves thousands of elements in one step', async () => {
      const pad = newPad();
      await store.keys.create(pad, at, { generation: 2, length: 2_500 });
      await store.ledger.append(pad, entry('last'));
      const order = [2_501, ...Array.from({ length: 2_499 }, () => 0)];
      await store.repair.reorder(pad, { generation: 2, length: 2_501, layoutVersion: 0 }, order, []);
      const page = await store.ledger.read(pad, 0, 2);
      expect(page).toMatchObject({ length: 2_500, holes: 2_499, generation: 2, lost: [2] });
      expect(page?.entries.map(({ index }) => index)).toEqual([1]);
    });

    it('marks a duplicate where that entry stands, and nowhere else', async () => {
      const pad = await made();
      const twice = entry('twice');
      for (const one of [twice, entry('between'), twice]) await store.ledger.append(pad, one);
      const duplicate = { generation: 0, index: 3, entryId: twice.id, of: 1 };
      await store.repair.markDuplicate(pad, { ...duplicate, generation: 1 });
      await store.repair.markDuplicate(pad, { ...duplicate, index: 2 });
      for (const _ of [1, 2]) await store.repair.markDuplicate(pad, duplicate);
      await expect(contentsOf(pad)).resolves.toEqual(['twice', 'between']);
      await expect(store.ledger.read(pad, 0, 10)).resolves.toMatchObject({
        duplicates: [{ index: 3, entryId: twice.id, of: 1 }],
        length: 3,
        holes: 1,
      });
    });

    it('counts its generations, and keeps what a clear removed until that is dropped', async () => {
      const pad = await made();
      const removed = entry('removed');
      await store.ledger.append(pad, removed);
      await store.ledger.clear(pad, 'c1');
      await expect(store.ledger.append(pad, entry())).resolves.toEqual({ index: 1, generation: 1 });
      await expect(store.ledger.read(pad, 0, 10, 'c1')).resolves.toEqual({
        ...nothing,
        entries: [{ ...removed, index: 1 }],
        length: 1,
      });
      await expect(store.keys.state(pad)).resolves.toMatchObject({
        unfinishedClearIds: ['c1'],
        ledger: { generation: 1 },
      });
      await store.ledger.dropCleared(pad, 'c1');
      await expect(store.ledger.read(pad, 0, 10, 'c1')).resolves.toBeUndefined();
      await expect(store.keys.state(pad)).resolves.toMatchObject({ unfinishedClearIds: [] });
      await store.ledger.clear(pad, 'c1');
      await expect(store.keys.state(pad)).resolves.toMatchObject({ ledger: { generation: 1, length: 1 } });
    });

    it('names what is staged, until it is promoted or dropped', async () => {
      const pad = await made();
      await expect(store.keys.state(pad)).resolves.toEqual({
        ledger: { generation: 0, length: 0 },
        contentRevision: 0,
        at,
        staged: [],
        unfinishedClearIds: [],
        idempotencyKeys: 0,
      });
      await store.content.stage(pad, 1, 'e1', 'one');
      await store.content.stage(pad, 2, 'e2', 'two');
      const staged = [
        { revision: 1, eventId: 'e1' },
        { revision: 2, eventId: 'e2' },
      ];
      await expect(store.keys.state(pad)).resolves.toMatchObject({ staged });
      await store.content.promote(pad, 1, 'e1', later);
      await store.content.unstage(pad, 2, 'e2');
      await expect(store.keys.state(pad)).resolves.toMatchObject({ staged: [], contentRevision: 1, at: later });
    });

    it('is dirty after every write, until it is marked clean', async () => {
      const isNoted = async (pad: PadRef) =>
        (await store.dirtyPads.take(10_000)).some(({ scratchpadId }) => scratchpadId === pad.scratchpadId);
      const writes = [
        (pad: PadRef) => store.ledger.append(pad, entry()),
        (pad: PadRef) => store.ledger.append(pad, entry(), { digest: 'abc' }),
        (pad: PadRef) => store.content.stage(pad, 1, 'e1', 'text'),
        (pad: PadRef) => store.ledger.clear(pad, 'c1'),
      ];
      for (const write of writes) {
        const pad = await made();
        expect(await isNoted(pad)).toBe(false);
        await write(pad);
        expect([await isNoted(pad), await isNoted(pad)]).toEqual([true, true]);
        await store.dirtyPads.markClean(pad);
        expect(await isNoted(pad)).toBe(false);
      }
    });

    it('is dirty again after a write that comes while it is audited', async () => {
      const pad = await made();
      await store.ledger.append(pad, entry());
      await store.dirtyPads.take(10_000);
      await store.dirtyPads.markClean(pad);
      await store.ledger.append(pad, entry());
      expect(await store.dirtyPads.take(10_000)).toContainEqual(pad);
      await store.dirtyPads.markClean(pad);
    });

    it('is verified for one connection epoch', async () => {
      const pad = await made();
      expect(store.epoch.isVerified(pad)).toBe(false);
      store.epoch.markVerified(pad, store.epoch.current() - 1);
      expect(store.epoch.isVerified(pad)).toBe(false);
      store.epoch.markVerified(pad, store.epoch.current());
      expect(store.epoch.isVerified(pad)).toBe(true);
    });

    it('is gone entirely once it is destroyed', async () => {
      const pad = await made();
      await store.ledger.append(pad, entry());
      await store.content.stage(pad, 1, 'e1', 'staged');
      await store.ledger.clear(pad, 'c1');
      await store.ledger.clear(pad, 'c2');
      await store.ledger.dropCleared(pad, 'c2');
      await expect(store.keys.destroy(pad)).resolves.toBe(3);
      await expect(store.keys.exists(pad)).resolves.toBe(false);
      await expect(store.keys.destroy(pad)).resolves.toBe(0);
    });

    it('is not brought back by any late writer', async () => {
      const pad = await made();
      await store.content.stage(pad, 1, 'e1', 'late');
      await store.ledger.clear(pad, 'c1');
      await store.keys.destroy(pad);
      await expect(store.ledger.append(pad, entry())).resolves.toBeUndefined();
      await expect(store.content.stage(pad, 2, 'e2', 'late')).resolves.toBe(false);
      await store.content.promote(pad, 1, 'e1', later);
      await store.content.unstage(pad, 1, 'e1');
      await expect(store.ledger.clear(pad, 'c1')).resolves.toBeUndefined();
      await store.ledger.dropCleared(pad, 'c1');
      await expect(store.keys.exists(pad)).resolves.toBe(false);
      await expect(store.content.read(pad)).resolves.toBeUndefined();
      await expect(store.ledger.read(pad, 0, 10)).resolves.toBeUndefined();
    });

    it('stays dead when it is destroyed among appends', async () => {
      for (let round = 0; round < 20; round += 1) {
        const pad = await made();
        const appends = Array.from({ length: 20 }, () => store.ledger.append(pad, entry()));
        await store.keys.destroy(pad);
        await Promise.all(appends);
        await expect(store.keys.exists(pad)).resolves.toBe(false);
      }
    });

    it('is absent for another owner', async () => {
      const pad = await made();
      const foreign = { ...pad, ownerId: newPad().ownerId };
      await expect(store.ledger.append(foreign, entry())).resolves.toBeUndefined();
      await expect(store.ledger.read(foreign, 0, 10)).resolves.toBeUndefined();
      await expect(store.content.read(foreign)).resolves.toBeUndefined();
      await expect(store.keys.destroy(foreign)).resolves.toBe(0);
      await expect(store.keys.exists(pad)).resolves.toBe(true);
    });
  });
}
