import { newId } from '../../../src/application/kernel/ids.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

interface Thread {
  readonly id: string;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly scratchpadId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

let app: MemoryApp;
let ada: { readonly id: string; readonly key: string };
let made: Thread;
beforeEach(async () => {
  app = await memoryApp();
  ada = await memberOf(app, 'Ada');
  made = dataOf<Thread>(await app.call(ada.key, 'thread.create', { title: 'Plan', metadata: { team: 'a' } }));
});

const patch = (change: object, more = {}) =>
  app.call(ada.key, 'thread.update', { threadId: made.id, ...change }, { respondAsync: true, ...more });

const append = async (content: string) => {
  const message = { threadId: made.id, role: 'user', content };
  return dataOf<{ id: string }>(await app.call(ada.key, 'message.append', message)).id;
};
const remove = async (messageId: string) =>
  refusalOf(await app.call(ada.key, 'message.delete', { threadId: made.id, messageId }));

describe('deleting a message that no read model shows yet', () => {
  it('finds it, once', async () => {
    const [first, second] = [await append('one'), await append('two')];
    expect([await remove(second), await remove(first), await remove(first)]).toEqual(['ok', 'ok', 'not_found']);
  });

  it('finds none that never was', async () => {
    await append('one');
    expect(await remove(newId('message', new Date()))).toBe('not_found');
  });

  it("finds none of another owner's", async () => {
    const messageId = await append('one');
    const bob = await memberOf(app, 'Bob');
    const foreign = await app.call(bob.key, 'message.delete', { threadId: made.id, messageId });
    expect(refusalOf(foreign)).toBe('not_found');
  });

  it('that is older than those it looks through waits for the read model, and does not say that there is none', async () => {
    app = await memoryApp({ watermark: { waitFor: async () => false } });
    ada = await memberOf(app, 'Ada');
    made = dataOf<Thread>(await app.call(ada.key, 'thread.create'));
    const messageId = await append('old');
    for (let n = 0; n < 32; n += 1) await append(`${n}`);
    expect(await remove(messageId)).toBe('unavailable');
  });
});

describe('changing a thread that no read model shows yet', () => {
  it('answers the whole thread as it is now', async () => {
    const { id: scratchpadId } = dataOf<{ id: string }>(
      await app.call(ada.key, 'scratchpad.create', { threadId: made.id }),
    );
    const changed = dataOf<Thread>(await patch({ title: null }));
    expect(changed).toEqual({ ...made, title: null, scratchpadId, updatedAt: changed.updatedAt });
    expect(dataOf(await patch({ metadata: {} }))).toMatchObject({ title: null, metadata: {} });
  });

  it('keeps both of two changes that are made at once', async () => {
    await Promise.all([patch({ title: 'Better plan' }), patch({ metadata: { team: 'b' } })]);
    expect(dataOf(await patch({}))).toMatchObject({ title: 'Better plan', metadata: { team: 'b' } });
  });

  it('is answered again with what was recorded', async () => {
    const more = { idempotencyKey: '3f0b8f0e-7b8e-4c6a-9d52-0f6d2b0c8a11' };
    const first = dataOf(await patch({ title: 'Better plan' }, more));
    await patch({ title: 'Best plan' });
    expect(dataOf(await patch({ title: 'Better plan' }, more))).toEqual(first);
    expect(dataOf(await patch({}))).toMatchObject({ title: 'Best plan' });
  });

  it('stores nothing when nothing is to be changed', async () => {
    expect(dataOf(await patch({}))).toEqual(made);
    await expect(app.log.readStream(`thread-${made.id}`)).resolves.toHaveLength(1);
  });

  it('finds neither a deleted one nor one of another owner', async () => {
    const bob = await memberOf(app, 'Bob');
    const foreign = await app.call(bob.key, 'thread.update', { threadId: made.id, title: 'his' });
    expect(refusalOf(foreign)).toBe('not_found');
    await app.call(ada.key, 'thread.delete', { threadId: made.id });
    expect(refusalOf(await patch({ title: 'late' }))).toBe('not_found');
    expect(refusalOf(await patch({}))).toBe('not_found');
  });
});
