import { randomUUID } from 'node:crypto';
import { agent, retire } from '../../../src/domain/agent/agent.js';
import { isRefusal } from '../../../src/domain/kernel/refusal.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';

type Made = { readonly id: string; readonly key: string };
type Entry = { readonly author: { readonly type: string; readonly id: string } };

let elapsed = 0;
let app: MemoryApp;
let ada: Made;
let bob: Made;
let scratchpadId: string;
beforeAll(async () => {
  app = await memoryApp({ elapsed: () => elapsed });
  [ada, bob] = [await memberOf(app, 'Ada'), await memberOf(app, 'Bob')];
  const { id: threadId } = dataOf<Made>(await app.call(ada.key, 'thread.create'));
  scratchpadId = dataOf<Made>(await app.call(ada.key, 'scratchpad.create', { threadId })).id;
});

async function enrolled(owner: Made): Promise<string> {
  const reply = await app.call(owner.key, 'agent.enroll', {
    harness: 'offline',
    name: 'Scout',
    persona: null,
    model: 'm',
    provider: 'anthropic',
    credential: { mode: 'intake', type: 'api_key', value: 'sk-of-an-agent' },
    idempotencyKey: randomUUID(),
  });
  return dataOf<{ agent: Made }>(reply).agent.id;
}

const newKey = (key: string, more: Readonly<Record<string, unknown>> = {}) =>
  app.call(key, 'key.create', { name: 'acting', ...more });
const append = (key: string, more: Readonly<Record<string, unknown>> = {}) =>
  app.call(key, 'scratchpad.entry.append', { scratchpadId, content: 'found', ...more });

describe('a key that acts as an agent', () => {
  it('writes entries, content and messages as that agent', async () => {
    const agentId = await enrolled(ada);
    const { key } = dataOf<Made>(await newKey(ada.key, { agentId }));
    const author = { type: 'agent', id: agentId };
    expect(dataOf(await append(key))).toMatchObject({ author });
    const { id: threadId } = dataOf<Made>(await app.call(key, 'thread.create'));
    const message = await app.call(key, 'message.append', { threadId, role: 'assistant', content: 'hello' });
    expect(dataOf(message)).toMatchObject({ author });
    await app.call(key, 'scratchpad.content.set', { scratchpadId, content: 'the plan' });
    const content = (await app.log.readStream(`scratchpad-${scratchpadId}`)).at(-1);
    expect(content).toMatchObject({ type: 'scratchpad.content_set', data: { author } });
    expect(content?.metadata['actor']).toMatchObject({ type: 'user', id: ada.id, agentId });
  });

  it('is found by its agent where entries are filtered', async () => {
    const agentId = await enrolled(ada);
    const { key } = dataOf<Made>(await newKey(ada.key, { agentId }));
    await append(key, { content: 'of the agent' });
    await append(ada.key, { content: 'of its owner' });
    const listed = await app.call(ada.key, 'scratchpad.entry.list', { scratchpadId, author: agentId });
    expect(dataOf(listed)).toEqual([expect.objectContaining({ content: 'of the agent' })]);
  });

  it('acts on one scratchpad in the role it was given, when it is bound', async () => {
    const agentId = await enrolled(ada);
    const { key } = dataOf<Made>(await newKey(ada.key, { agentId, scratchpadId, padRole: 'worker' }));
    const used = await app.call(key, 'append_scratchpad', { note: 'by tool' });
    expect(refusalOf(used)).toBe('ok');
    expect(refusalOf(await app.call(key, 'update_scratchpad', { content: 'mine' }))).toBe('authorization_refused');
    const [entry] = dataOf<Entry[]>(
      await app.call(ada.key, 'scratchpad.entry.list', { scratchpadId, author: agentId, limit: 1 }),
    );
    expect(entry?.author).toEqual({ type: 'agent', id: agentId });
  });

  it('takes a claim as its agent: with another key too, and against other agents', async () => {
    const [one, other] = [await enrolled(ada), await enrolled(ada)];
    const keysOf = (agentId: string) => newKey(ada.key, { agentId, scratchpadId, padRole: 'worker' });
    const [first, second, rival] = [await keysOf(one), await keysOf(one), await keysOf(other)];
    const claim = (made: typeof first) =>
      append(dataOf<Made>(made).key, { kind: 'claim', fields: { subject: 'whales' } });
    expect(refusalOf(await claim(first))).toBe('ok');
    expect(refusalOf(await claim(rival))).toBe('conflict');
    expect(refusalOf(await claim(second))).toBe('ok');
  });

  it("is not made for another tenant's agent, which looks like one that is not there", async () => {
    const replies = [await enrolled(bob), randomUUID(), 'nonsense'].map((agentId) => newKey(ada.key, { agentId }));
    const results = (await Promise.all(replies)).map(({ result }) => JSON.stringify(result));
    expect(new Set(results).size).toBe(1);
    expect(results[0]).toContain('not_found');
  });

  it('makes keys that act as the same agent, and no others', async () => {
    const [agentId, other] = [await enrolled(ada), await enrolled(ada)];
    const { key } = dataOf<Made>(await newKey(ada.key, { agentId }));
    expect(dataOf(await newKey(key))).toMatchObject({ agentId });
    expect(refusalOf(await newKey(key, { agentId: other }))).toBe('authorization_refused');
  });

  it('stops working within five seconds once its agent is retired, and no more are made', async () => {
    const agentId = await enrolled(ada);
    const { key } = dataOf<Made>(await newKey(ada.key, { agentId }));
    expect(refusalOf(await append(key))).toBe('ok');
    const { aggregates } = app.tenants.ofSystem(ada.id, randomUUID());
    const retired = await aggregates.execute(agent, agentId, (state) => retire(state, 'owner_erased'));
    expect(isRefusal(retired)).toBe(false);
    elapsed += 5_000;
    expect(refusalOf(await append(key))).toBe('authentication_failed');
    expect(refusalOf(await newKey(ada.key, { agentId }))).toBe('not_found');
  });
});
