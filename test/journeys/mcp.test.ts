import { randomUUID } from 'node:crypto';
import { eventually } from '../support/eventually.js';
import { mcpClient, rpc } from '../support/mcp-client.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

let stack: Stack;
let ada: Member;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
});
afterAll(() => stack.stop());

const idIn = (data: unknown): string => (data as { id: string }).id; // everything that is made has an id
const newPad = async () => {
  const threadId = idIn((await ada.post('/v1/threads', { title: 'Where do whales sleep?' })).data);
  return idIn((await ada.post('/v1/scratchpads', { threadId })).data);
};
const newAgent = async (name: string) => {
  const enrolled = await ada.post('/v1/agents/enroll', {
    harness: 'offline',
    name,
    model: 'm',
    provider: 'anthropic',
    idempotencyKey: randomUUID(),
    credential: { mode: 'intake', type: 'api_key', value: 'sk-of-a-tenant' },
  });
  return idIn((enrolled.data as { agent: unknown }).agent); // as agent.enroll declares
};
const boundKey = async (scratchpadId: string, padRole: string, agentId?: string) => {
  const made = await ada.post('/v1/keys', { name: padRole, scratchpadId, padRole, ...(agentId && { agentId }) });
  return (made.data as { key: string }).key; // as key.create declares
};

describe('a supervisor and two agents that share a scratchpad over MCP', () => {
  it('read one plan, leave both notes in one order, and only the supervisor changes the plan', async () => {
    const scratchpadId = await newPad();

    // The supervisor's runtime names the pad by a header; the workers' keys are bound to it. No model sees an id.
    const supervisor = await mcpClient(stack.url, ada.key, { headers: { 'palimpsest-scratchpad': scratchpadId } });
    const agents = [await newAgent('Reader'), await newAgent('Writer')];
    const [one, two] = await Promise.all(
      (['modern', 'legacy'] as const).map(async (era, n) =>
        mcpClient(stack.url, await boundKey(scratchpadId, 'worker', agents[n]), { era }),
      ),
    );
    if (!one || !two) throw new Error('Two agents were asked for.');

    // It begins empty, and says so.
    const empty = await supervisor.call('read_scratchpad');
    expect(empty.text).toContain('(empty)');
    expect(empty.text).toContain('(none)');

    // The supervisor writes the plan.
    expect((await supervisor.call('update_scratchpad', { content: 'Ask two sources.' })).data).toEqual({ revision: 1 });

    // Both agents read it and append at the same time, eight notes each.
    expect((await one.call('read_scratchpad')).text).toContain('Ask two sources.');
    const appended = await Promise.all(
      Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? one : two).call('append_scratchpad', { note: `note ${n}` })),
    );
    const indexes = appended.map(({ data }) => (data as { index: number }).index);
    expect([...indexes].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n + 1));

    // Everybody reads the same, and the plan is untouched.
    const texts = await Promise.all(
      [supervisor, one, two].map(async (mcp) => (await mcp.call('read_scratchpad')).text),
    );
    expect(new Set(texts).size).toBe(1);
    for (const [n, index] of indexes.entries()) expect(texts[0]).toContain(`[${index}] note ${n}`);
    expect(texts[0]).toContain('Ask two sources.');

    // A worker may not replace the plan, and does not see the tool that would.
    const refused = await one.call('update_scratchpad', { content: 'Ask nobody.' });
    expect([refused.isError, refused.code]).toEqual([true, 'authorization_refused']);
    const seen = (await one.client.listTools()).tools.map(({ name }) => name);
    expect([seen.includes('append_scratchpad'), seen.includes('update_scratchpad')]).toEqual([true, false]);
    expect((await supervisor.call('read_scratchpad')).text).toContain('Ask two sources.');

    // Each note names the agent that wrote it.
    const entries = (await ada.get(`/v1/scratchpads/${scratchpadId}/entries`)).data as {
      content: string;
      author: object;
    }[];
    const authorOf = (note: string) => entries.find(({ content }) => content === note)?.author;
    expect(authorOf('note 0')).toEqual({ type: 'agent', id: agents[0] });
    expect(authorOf('note 1')).toEqual({ type: 'agent', id: agents[1] });

    // REST shows the same ledger: what was written over one door is read over the other.
    const { data } = await ada.get(`/v1/scratchpads/${scratchpadId}/view`);
    expect((data as { text: string }).text).toBe(texts[0]);
    for (const mcp of [supervisor, one, two]) await mcp.close();
  });

  it('cannot be led to another scratchpad, by an argument or by a header', async () => {
    const [own, other] = [await newPad(), await newPad()];
    const key = await boundKey(own, 'worker');
    const elsewhere = await mcpClient(stack.url, key, { headers: { 'palimpsest-scratchpad': other } });
    expect((await elsewhere.call('append_scratchpad', { note: 'a word' })).code).toBe('not_found');
    const here = await mcpClient(stack.url, key);
    const led = await here.call('append_scratchpad', { note: 'a word', scratchpadId: other });
    expect([led.code, led.text.includes('scratchpadId')]).toEqual(['validation_failed', true]);
    const beside = await here.call('append_scratchpad', { note: 'a word' }, { 'palimpsest/scratchpad': other });
    expect(beside.data).toEqual({ index: 1 });
    expect((await ada.get(`/v1/scratchpads/${other}/view`)).data).toMatchObject({ entryCount: 0 });
    for (const mcp of [elsewhere, here]) await mcp.close();
  });

  it('learns what is missing when no scratchpad is bound', async () => {
    const mcp = await mcpClient(stack.url, ada.key);
    const { code, data } = await mcp.call('read_scratchpad');
    expect([code, data]).toEqual([
      'precondition_failed',
      { error: expect.objectContaining({ reason: 'no_scratchpad_bound' }) as unknown },
    ]);
    await mcp.close();
  });

  it('appends once what its runtime sends twice', async () => {
    const scratchpadId = await newPad();
    const mcp = await mcpClient(stack.url, await boundKey(scratchpadId, 'worker'));
    const beside = { 'palimpsest/idempotencyKey': '0e6f7a55-0d2b-4c7a-9f3c-6a4f2f1d9b10' };
    const first = await mcp.call('append_scratchpad', { note: 'once' }, beside);
    const again = await mcp.call('append_scratchpad', { note: 'once' }, beside);
    expect([first.data, again.data, again.meta['palimpsest/replayed']]).toEqual([{ index: 1 }, { index: 1 }, true]);
    expect((await mcp.call('read_scratchpad')).text.match(/once/g)).toHaveLength(1);
    await mcp.close();
  });

  it('is shut out with its key, within seconds', async () => {
    const made = await ada.post('/v1/keys', { name: 'short-lived' });
    const { id, key } = made.data as { id: string; key: string }; // as key.create declares
    const mcp = await mcpClient(stack.url, key);
    expect((await ada.delete(`/v1/keys/${id}`)).status).toBe(200);
    const status = async () => (await rpc(stack.url, key, { method: 'tools/list' })).status;
    await eventually(status, (answered) => answered === 401, 10_000);
    await expect(mcp.call('thread_list')).rejects.toThrow('authentication_failed');
    await mcp.close();
  });
});
