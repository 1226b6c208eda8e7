import { randomUUID } from 'node:crypto';
import { startStack, type Member, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';

type Made = { readonly id: string; readonly key: string };

let stack: Stack;
let ada: Member;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
});
afterAll(() => stack.stop());

async function enrolled(owner: Member, name: string): Promise<string> {
  const { data } = await owner.post('/v1/agents/enroll', {
    harness: 'offline',
    name,
    persona: null,
    model: 'm',
    provider: 'anthropic',
    credential: { mode: 'intake', type: 'api_key', value: 'sk-of-an-agent' },
    idempotencyKey: randomUUID(),
  });
  return (data as { agent: Made }).agent.id; // as agent.enroll declares
}

describe('agents with keys of their own', () => {
  it('write into one scratchpad, each as itself, and can be distinguished in lists and in the audit trail', async () => {
    const thread = (await ada.post('/v1/threads', { title: 'Plan' })).data as Made;
    const scratchpadId = ((await ada.post('/v1/scratchpads', { threadId: thread.id })).data as Made).id;
    const agents = [await enrolled(ada, 'One'), await enrolled(ada, 'Two'), await enrolled(ada, 'Three')];
    for (const agentId of agents) {
      const { status, data } = await ada.post('/v1/keys', { name: 'worker', scratchpadId, padRole: 'worker', agentId });
      expect([status, data]).toEqual([201, expect.objectContaining({ agentId })]);
      const acting = stack.client((data as Made).key);
      const noted = await acting.post('/v1/tools/append_scratchpad', { note: `of ${agentId}` });
      expect(noted.status).toBe(200);
      expect((await acting.get('/v1/threads')).status).toBe(403);
    }
    for (const agentId of agents) {
      const found = await ada.get(`/v1/scratchpads/${scratchpadId}/entries?author=${agentId}`);
      expect(found.data).toEqual([
        expect.objectContaining({ content: `of ${agentId}`, author: { type: 'agent', id: agentId } }),
      ]);
    }
    const listed = (await ada.get('/v1/keys')).data as { agentId: string | null }[];
    expect(listed.map(({ agentId }) => agentId)).toEqual(expect.arrayContaining([null, ...agents]));
    const [agentId = ''] = agents;
    const events = await until(async () => {
      const { data } = await ada.get(`/v1/audit/events?actor=${agentId}`);
      return (data as unknown[]).length > 0 ? (data as unknown[]) : undefined;
    });
    expect(events).toEqual([expect.objectContaining({ actor: expect.objectContaining({ agentId }) as object })]);
  });

  it('cannot be acted as by another tenant', async () => {
    const bob = await stack.user('Bob');
    const agentId = await enrolled(bob, 'His');
    const [foreign, missing] = [
      await ada.post('/v1/keys', { name: 'x', agentId }, { 'x-correlation-id': agentId }),
      await ada.post('/v1/keys', { name: 'x', agentId: randomUUID() }, { 'x-correlation-id': agentId }),
    ];
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
  });

  it('stop acting when their owner is erased', async () => {
    const eve = await stack.user('Eve');
    const agentId = await enrolled(eve, 'Hers');
    const acting = stack.client(((await eve.post('/v1/keys', { name: 'acting', agentId })).data as Made).key);
    expect((await acting.get('/v1/me')).data).toMatchObject({ key: { agentId } });
    await stack.admin.delete(`/v1/users/${eve.userId}`);
    await until(async () => ((await acting.get('/v1/me')).status === 401 ? true : undefined), 5_000);
  });
});
