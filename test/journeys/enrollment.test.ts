import { randomUUID } from 'node:crypto';
import { startStack, type Member, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';

let stack: Stack;
let ada: Member;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
});
afterAll(() => stack.stop());

const request = (more: Readonly<Record<string, unknown>> = {}) => ({
  harness: 'native',
  name: 'Researcher',
  persona: 'You read before you write.',
  model: 'anthropic/some-model',
  provider: 'anthropic',
  credential: { mode: 'intake', type: 'api_key', value: 'sk-live-1234567890' },
  idempotencyKey: randomUUID(),
  ...more,
});

interface Enrolled {
  readonly result: string;
  readonly agent: { readonly id: string };
}

describe('an enrollment', () => {
  it('with intake makes an agent that its owner reads, and shows no credential', async () => {
    const made = await ada.post('/v1/agents/enroll', request());
    expect([made.status, made.code]).toEqual([201, undefined]);
    expect(made.data).toEqual({
      result: 'enrolled',
      agent: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        name: 'Researcher',
        persona: 'You read before you write.',
        harness: 'native',
        model: 'anthropic/some-model',
        provider: 'anthropic',
        credentialMode: 'intake',
        ownerId: ada.userId,
        enrolledAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      },
    });
    const { agent } = made.data as Enrolled;
    const found = await ada.get(`/v1/agents/${agent.id}/enrollment`);
    expect(found.data).toEqual({ result: 'found', agent });
    expect(((await ada.get('/v1/agents')).data as unknown[]).length).toBe(1);
  });

  it('sent again with its key answers the recorded outcome and stores only that it did', async () => {
    const body = request();
    const [first, second] = [await ada.post('/v1/agents/enroll', body), await ada.post('/v1/agents/enroll', body)];
    expect(second.data).toEqual(first.data);
    expect(second.body).toMatchObject({ replayed: true });
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const stream = `agent-${(first.data as Enrolled).agent.id}`;
    const events = await until(async () => {
      const { data } = await ada.get(`/v1/audit/events?stream=${stream}&order=asc`);
      return (data as { type: string }[]).length === 2 ? (data as { type: string }[]) : undefined;
    });
    expect(events.map(({ type }) => type)).toEqual(['agent.enrolled', 'agent.enrollment_replayed']);
  });
});
