import { Palimpsest, PalimpsestError } from '../../src/interfaces/sdk/index.js';
import { startStack, type Stack } from '../support/stack.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

let stack: Stack;
let apiKey: string;
let client: Palimpsest;
/** Between `shaky` and the server. */
let proxy: TcpProxy;
let shaky: Palimpsest;
beforeAll(async () => {
  stack = await startStack();
  apiKey = (await stack.user('Ada')).key;
  client = new Palimpsest({ url: stack.url, apiKey });
  proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(stack.url).port) });
  shaky = new Palimpsest({ url: `http://127.0.0.1:${proxy.port}`, apiKey });
});
afterAll(async () => {
  await proxy.close();
  await stack.stop();
});

async function newPad() {
  const thread = await client.threads.create();
  return client.scratchpads.create({ threadId: thread.id });
}

const contentsOf = async (id: string) =>
  (await client.scratchpads.entries.list(id).toArray()).map(({ content }) => content);

async function refusalOf(call: Promise<unknown>): Promise<PalimpsestError> {
  const fault: unknown = await call.catch((thrown: unknown) => thrown);
  if (fault instanceof PalimpsestError) return fault;
  throw new Error('It was not refused.');
}

describe('the client', () => {
  it('makes a thread and its scratchpad by the two canonical calls', async () => {
    const thread = await client.threads.createThread();
    const scratchpad = await client.scratchpads.createScratchpad({ threadId: thread.id });
    expect(scratchpad).toMatchObject({ threadId: thread.id, ownerId: thread.ownerId, entryCount: 0 });
    expect((await client.scratchpads.resolve(thread.id)).id).toBe(scratchpad.id);
    expect((await client.threads.get(thread.id)).scratchpadId).toBe(scratchpad.id);
  });

  it('writes content at a revision, and learns of a conflict which revision there is', async () => {
    const { id } = await newPad();
    const first = await client.scratchpads.content.set(id, 'Plan A.').withMeta();
    const second = await client.scratchpads.content.set(id, 'Plan B.', { ifMatch: first.data.revision });
    const error = await refusalOf(client.scratchpads.content.set(id, 'Plan C.', { ifMatch: first.etag ?? '' }));
    expect([error.code, error.status, error.reason]).toEqual(['conflict', 409, 'revision_mismatch']);
    expect(error.details).toEqual({ revision: second.revision });
    expect((await client.scratchpads.content.get(id)).content).toBe('Plan B.');
  });

  it('learns by their codes what it may not do, and what is not there', async () => {
    const { id } = await newPad();
    const eve = new Palimpsest({ url: stack.url, apiKey: (await stack.user('Eve')).key });
    const nobody = new Palimpsest({ url: stack.url, apiKey: 'plm_nobody' });
    expect((await refusalOf(eve.scratchpads.get(id))).code).toBe('not_found');
    expect((await refusalOf(eve.scratchpads.get('..'))).code).toBe('not_found');
    expect((await refusalOf(eve.users.create({ name: 'Mallory' }))).code).toBe('authorization_refused');
    expect((await refusalOf(nobody.me.get())).code).toBe('authentication_failed');
    const wrong = await refusalOf(client.threads.create({ title: '' }));
    expect([wrong.code, wrong.param, wrong.issues.length]).toEqual(['validation_failed', 'title', 1]);
    expect((await refusalOf(client.scratchpads.create({ threadId: 'x' }, { correlationId: id }))).param).toBe(
      'correlationId',
    );
  });

  it('reads a list to its end, in pages of the size it asks for', async () => {
    const { id } = await newPad();
    const wanted = Array.from({ length: 25 }, (_, n) => `entry ${n}`);
    for (const content of wanted) await client.scratchpads.entries.append(id, { content });
    const sizes = [];
    for await (const { items } of client.scratchpads.entries.list(id, { limit: 10 }).pages()) sizes.push(items.length);
    expect(sizes).toEqual([10, 10, 5]);
    expect(await contentsOf(id)).toEqual(wanted);
    const backwards = await client.scratchpads.entries.list(id, { order: 'desc' }).page();
    expect(backwards.items[0]?.content).toBe('entry 24');
  });

  it('reads its own writes, also at another process and from another client', async () => {
    const other = await stack.another('api');
    const there = new Palimpsest({ url: other.url, apiKey });
    const ids = [];
    for (let n = 0; n < 5; n += 1) ids.push((await there.threads.create({}, { respondAsync: true })).id);
    const own = await there.threads.list({ limit: 5 }).page();
    expect(own.items.map(({ id }) => id)).toEqual([...ids].reverse());
    const reported = await there.threads.create({}, { respondAsync: true }).withMeta();
    const reader = new Palimpsest({
      url: stack.url,
      apiKey,
      ...(reported.position && { position: reported.position }),
    });
    expect((await reader.threads.get(reported.data.id)).id).toBe(reported.data.id);
    await other.stop();
  });

  it('acts as a tool on the scratchpad that it names', async () => {
    const { id } = await newPad();
    await client.tools.appendScratchpad({ note: 'seen' }, { scratchpad: id });
    expect((await client.tools.readScratchpad({ scratchpad: id })).text).toContain('seen');
    expect((await refusalOf(client.tools.readScratchpad())).reason).toBe('no_scratchpad_bound');
  });

  it('exports the audit trail line by line', async () => {
    const { id } = await newPad();
    const types = [];
    for await (const { type } of client.audit.export({ stream: `scratchpad-${id}` })) types.push(type);
    expect(types).toEqual(['scratchpad.created']);
  });
});

describe('when replies are lost, the client', () => {
  it('appends one entry, and knows that it is answered again', async () => {
    const { id } = await newPad();
    proxy.loseNextReply();
    const { replayed } = await shaky.scratchpads.entries.append(id, { content: 'once' }).withMeta();
    expect(replayed).toBe(true);
    expect(await contentsOf(id)).toEqual(['once']);
  });

  it('makes one thread', async () => {
    const before = await client.threads.list().toArray();
    proxy.loseNextReply();
    const thread = await shaky.threads.create();
    const made = (await client.threads.list().toArray()).length - before.length;
    expect([made, thread.title]).toEqual([1, null]);
  });

  it('leaves it to its caller to ask again under the same key, when that was wished', async () => {
    const { id } = await newPad();
    proxy.loseNextReply();
    const error = await refusalOf(shaky.scratchpads.entries.append(id, { content: 'once' }, { retries: 0 }));
    const { idempotencyKey = '' } = error;
    await shaky.scratchpads.entries.append(id, { content: 'once' }, { idempotencyKey });
    expect([error.code, await contentsOf(id)]).toEqual(['connection_failed', ['once']]);
    const reused = await refusalOf(shaky.scratchpads.entries.append(id, { content: 'other' }, { idempotencyKey }));
    expect([reused.code, reused.reason]).toEqual(['conflict', 'idempotency_key_reused']);
  });
});

describe('who follows a scratchpad', () => {
  it('hears each event once, through cut connections, until its end', async () => {
    const { id } = await newPad();
    const following = shaky.scratchpads.events(id, { lastEventId: '0' });
    const heard: unknown[] = [];
    await client.scratchpads.entries.append(id, { content: 'entry 1' });
    for await (const reported of following) {
      if (reported.event !== 'scratchpad.entry_appended') continue;
      heard.push(reported.data.content);
      if (heard.length === 5) {
        await client.scratchpads.delete(id);
        continue;
      }
      proxy.reset();
      await client.scratchpads.entries.append(id, { content: `entry ${heard.length + 1}` });
    }
    expect(heard).toEqual([1, 2, 3, 4, 5].map((n) => `entry ${n}`));
    expect(following.endReason).toBe('deleted');
  });

  it('goes on at another process when the one it followed stops', async () => {
    const { id } = await newPad();
    const other = await stack.another('api');
    const moving = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(other.url).port) });
    const there = new Palimpsest({ url: `http://127.0.0.1:${moving.port}`, apiKey });
    await client.scratchpads.entries.append(id, { content: 'first' });
    const heard = [];
    const following = there.scratchpads.events(id, { lastEventId: '0' });
    for await (const { data } of following) if ('content' in data && heard.push(data.content) === 1) break;
    await moving.close();
    await other.stop();
    await client.scratchpads.entries.append(id, { content: 'second' });
    const { lastEventId = '' } = following;
    for await (const { data } of client.scratchpads.events(id, { lastEventId })) {
      if ('content' in data && heard.push(data.content) === 2) break;
    }
    expect(heard).toEqual(['first', 'second']);
  });
});
