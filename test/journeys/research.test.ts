import { randomUUID } from 'node:crypto';
import { foundIn, makeCanary } from '../support/canary.js';
import { dumpDatabase, dumpRedis } from '../support/dumps.js';
import { modelServer, type ModelAnswer, type ModelRequest, type ModelServer } from '../support/model-server.js';
import { startStack, type Member, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';

type Made = { readonly id: string };
interface Run {
  readonly id: string;
  readonly threadId: string;
  readonly scratchpadId: string;
  readonly supervisorThreadId: string;
  readonly supervisorAgentId: string;
  readonly workerAgentIds: readonly string[];
  readonly status: string;
  readonly attempt: number;
  readonly reason: string | null;
  readonly answer: string | null;
  readonly calls: readonly {
    readonly agentId: string;
    readonly threadId: string;
    readonly status: string;
    readonly failure: string | null;
  }[];
}

/** What the provider answers, for agents that have one. */
let answer: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>;
let models: ModelServer;
let stack: Stack;
let ada: Member;
beforeAll(async () => {
  models = await modelServer((request) => answer(request));
  stack = await startStack({ modelUrl: models.url });
  ada = await stack.user('Ada');
});
afterAll(async () => {
  await stack.stop();
  await models.close();
});

async function enrolled(owner: Member, harness: string, name: string): Promise<string> {
  const { data } = await owner.post('/v1/agents/enroll', {
    harness,
    name,
    persona: null,
    model: 'anthropic/large',
    provider: 'anthropic',
    credential: { mode: 'intake', type: 'api_key', value: 'sk-canary-of-research' },
    idempotencyKey: randomUUID(),
  });
  return (data as { agent: Made }).agent.id; // as agent.enroll declares
}

interface Asked {
  readonly harness?: string;
  readonly workers?: number;
  readonly question?: string;
  readonly maxTurns?: number;
  readonly deadlineSeconds?: number;
}

async function started(
  owner: Member,
  { harness = 'offline', workers = 1, question = 'Why whales?', ...limits }: Asked = {},
): Promise<Run> {
  const { id: threadId } = (await owner.post('/v1/threads', { title: 'Plan' })).data as Made;
  const workerAgentIds: string[] = [];
  for (let n = 1; n <= workers; n += 1) workerAgentIds.push(await enrolled(owner, harness, `Worker ${n}`));
  const supervisorAgentId = await enrolled(owner, harness, 'Supervisor');
  const asked = { threadId, question, supervisorAgentId, workerAgentIds, ...limits };
  const reply = await owner.post('/v1/research', asked);
  expect([reply.status, reply.code]).toEqual([201, undefined]);
  return reply.data as Run;
}

const look = async (owner: Member, { id }: Made) => (await owner.get(`/v1/research/${id}`)).data as Run;
const ended = (owner: Member, run: Made): Promise<Run> =>
  until(async () => {
    const now = await look(owner, run);
    return now.status === 'queued' || now.status === 'running' ? undefined : now;
  }, 30_000);
const messagesOf = async (owner: Member, threadId: string) =>
  (await owner.get(`/v1/threads/${threadId}/messages?limit=100&order=asc`)).data as {
    role: string;
    content: string;
    author: { type: string; id: string };
  }[];
const isWorker = ({ tools }: ModelRequest) => !tools.includes('delegate');
const delegate = { text: '', calls: [{ id: 'd1', tool: 'delegate', input: { task: 'Look at whales.' } }] };
const say = (text: string): ModelAnswer => ({ text, calls: [] });

describe('research with a supervisor and three workers', () => {
  it('is answered, with everything shared in one scratchpad and every conversation apart', async () => {
    const question = `canary-${randomUUID()}`;
    const run = await started(ada, { workers: 3, question });
    const done = await ended(ada, run);
    expect(done).toMatchObject({ status: 'completed', attempt: 1, reason: null, question });
    expect(done.answer).toContain(question);
    expect(done.calls.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(done.calls.map(({ agentId }) => agentId).sort()).toEqual([...run.workerAgentIds].sort());

    const pad = (await ada.get(`/v1/threads/${run.threadId}/scratchpad`)).data as Made;
    expect(pad.id).toBe(run.scratchpadId);
    const entries = (await ada.get(`/v1/scratchpads/${pad.id}/entries`)).data as { author: unknown }[];
    expect(entries.map(({ author }) => author)).toEqual(
      expect.arrayContaining([...run.workerAgentIds, run.supervisorAgentId].map((id) => ({ type: 'agent', id }))),
    );
    expect(entries).toHaveLength(4);
    expect((await ada.get(`/v1/scratchpads/${pad.id}/verify`)).data).toMatchObject({ ok: true, entries: 4 });

    expect(await messagesOf(ada, run.threadId)).toEqual([]);
    const threads = [run.supervisorThreadId, ...done.calls.map(({ threadId }) => threadId)];
    expect(new Set(threads).size).toBe(4);
    for (const { threadId, agentId } of done.calls) {
      const [task, ...rest] = await messagesOf(ada, threadId);
      expect(task).toMatchObject({ role: 'user', author: { type: 'agent', id: run.supervisorAgentId } });
      expect(rest.every(({ author }) => author.id === agentId)).toBe(true);
    }
    const { text } = await ada.get(`/v1/audit/export?stream=research-${run.id}`);
    expect(text).toContain('research.completed');
    expect(text).not.toContain(question);
    expect(((await ada.get('/v1/research')).data as Made[])[0]?.id).toBe(run.id);
  });

  it('is not there for another tenant, nor are its threads', async () => {
    const run = await ended(ada, await started(ada));
    const bob = await stack.user('Bob');
    expect((await bob.get(`/v1/research/${run.id}`)).status).toBe(404);
    expect((await bob.post(`/v1/research/${run.id}/cancel`)).status).toBe(404);
    expect((await bob.get('/v1/research')).data).toEqual([]);
    for (const threadId of [run.supervisorThreadId, ...run.calls.map((call) => call.threadId)]) {
      expect((await bob.get(`/v1/threads/${threadId}/messages`)).status).toBe(404);
    }
  });
});

describe('research with agents that think at a provider', () => {
  it('uses its tools and the sealed credential, which is nowhere to be seen', async () => {
    answer = (request) => {
      if (request.turns > 0) return say(isWorker(request) ? 'Noted.' : 'Because.');
      const note = { id: 'n1', tool: 'append_scratchpad', input: { note: 'They are big.' } };
      return isWorker(request) ? { text: '', calls: [note] } : delegate;
    };
    const run = await ended(ada, await started(ada, { harness: 'native' }));
    expect(run).toMatchObject({ status: 'completed', answer: 'Because.', calls: [{ status: 'succeeded' }] });
    const entries = (await ada.get(`/v1/scratchpads/${run.scratchpadId}/entries`)).data;
    expect(entries).toMatchObject([{ content: 'They are big.', author: { id: run.workerAgentIds[0] } }]);
    expect(models.requests.at(-1)?.headers['x-api-key']).toBe('sk-canary-of-research');
    const texts = [
      await ada.get(`/v1/audit/export?stream=research-${run.id}`),
      await ada.get(`/v1/research/${run.id}`),
      ...(await Promise.all(
        [run.supervisorThreadId, ...run.calls.map(({ threadId }) => threadId)].map((id) =>
          ada.get(`/v1/threads/${id}/messages`),
        ),
      )),
    ].map(({ text }) => text);
    expect(texts.join('')).not.toContain('canary-of-research');
  });

  it('says of a worker whose model fails that it failed, and goes on', async () => {
    answer = (request) => {
      if (isWorker(request)) return { status: 403 };
      return request.turns > 0 ? say('Without it.') : delegate;
    };
    const run = await ended(ada, await started(ada, { harness: 'native' }));
    expect(run).toMatchObject({ status: 'completed', answer: 'Without it.' });
    expect(run.calls).toMatchObject([{ status: 'failed', failure: 'model_failed' }]);
    const result = (await messagesOf(ada, run.supervisorThreadId)).find(({ role }) => role === 'tool');
    expect(result?.content).toContain('"failure":"model_failed"');
  });

  it('fails by its turns', async () => {
    answer = () => ({ text: '', calls: [{ id: 'r', tool: 'read_scratchpad', input: {} }] });
    const run = await ended(ada, await started(ada, { harness: 'native', workers: 0, maxTurns: 3 }));
    expect(run).toMatchObject({ status: 'failed', reason: 'turn_limit_reached', calls: [] });
  });

  it('fails by its deadline, with the calls that were open', async () => {
    answer = (request) => (isWorker(request) ? 'silence' : delegate);
    const run = await ended(ada, await started(ada, { harness: 'native', deadlineSeconds: 2 }));
    expect(run).toMatchObject({ status: 'failed', reason: 'deadline_exceeded' });
    expect(run.calls).toMatchObject([{ status: 'failed', failure: 'deadline_exceeded' }]);
  });

  it('is refused before it begins when the credential is gone', async () => {
    const eve = await stack.user('Eve');
    const supervisorAgentId = await enrolled(eve, 'native', 'Supervisor');
    const [credential] = (await eve.get('/v1/credentials')).data as Made[];
    await eve.delete(`/v1/credentials/${credential?.id ?? ''}`);
    const { id: threadId } = (await eve.post('/v1/threads', { title: 'Plan' })).data as Made;
    const reply = await eve.post('/v1/research', { threadId, question: 'Why?', supervisorAgentId });
    expect([reply.status, reply.body]).toMatchObject([422, { error: { reason: 'credential_missing' } }]);
  });
});

describe('the scratchpad of a run, once it is deleted', () => {
  it('leaves no word in any table, event, queue or conversation', async () => {
    const canaries = { content: makeCanary(), note: makeCanary(), found: makeCanary(), misplaced: makeCanary() };
    answer = (request) => {
      if (isWorker(request)) {
        const found = { id: 'w1', tool: 'append_scratchpad', input: { note: canaries.found } };
        return request.turns === 0 ? { text: '', calls: [found] } : say('Noted.');
      }
      if (request.turns === 1) return { text: '', calls: [{ id: 'r1', tool: 'read_scratchpad', input: {} }] };
      if (request.turns > 1) return say('Because.');
      const calls = [
        { id: 's1', tool: 'update_scratchpad', input: { content: canaries.content } },
        { id: 's2', tool: 'append_scratchpad', input: { note: canaries.note } },
        { id: 's3', tool: 'append_scratchpad', input: { text: canaries.misplaced } },
      ];
      return { text: '', calls: [...calls, ...delegate.calls] };
    };
    const run = await ended(ada, await started(ada, { harness: 'native' }));
    expect(run).toMatchObject({ status: 'completed', answer: 'Because.', calls: [{ status: 'succeeded' }] });
    const seen = models.requests.at(-1)?.text ?? '';
    const written = [canaries.content, canaries.note, canaries.found];
    expect(written.filter((canary) => !foundIn(seen, canary).includes('raw'))).toEqual([]);
    const before = await dumpRedis(stack.redis);
    expect(written.filter((canary) => foundIn(before, canary).length === 0)).toEqual([]);

    expect((await ada.delete(`/v1/scratchpads/${run.scratchpadId}`)).status).toBe(200);
    await until(async () => {
      const left = await dumpRedis(stack.redis);
      return written.some((canary) => foundIn(left, canary).length > 0) ? undefined : true;
    });
    const threads = [run.supervisorThreadId, ...run.calls.map(({ threadId }) => threadId)];
    const conversations = await Promise.all(threads.map((threadId) => messagesOf(ada, threadId)));
    const places = new Map([
      ...(await dumpDatabase(stack.backends.databaseUrl)),
      ['Redis and its queues', await dumpRedis(stack.redis)],
      ['the conversations', JSON.stringify(conversations)],
      ['the audit trail', (await ada.get('/v1/audit/export')).text],
    ]);
    const hits = [...places].flatMap(([place, text]) =>
      Object.values(canaries).flatMap((canary) => foundIn(text, canary).map((form) => `${form} in ${place}`)),
    );
    expect(hits).toEqual([]);
    const toolMessages = conversations.map((messages) => messages.filter(({ role }) => role === 'tool'));
    expect(toolMessages.map(({ length }) => length)).toEqual([2, 1]);
    expect(toolMessages.flat().every(({ content }) => content.includes(run.scratchpadId))).toBe(true);
  });
});

describe('research that is under way', () => {
  /** A run whose worker waits for a model that does not answer. */
  async function waiting(owner: Member): Promise<Run> {
    answer = (request) => (isWorker(request) ? 'silence' : delegate);
    const run = await started(owner, { harness: 'native' });
    return until(async () => {
      const now = await look(owner, run);
      return now.calls.length > 0 ? now : undefined;
    });
  }

  it('is cancelled, and its call with it', async () => {
    const run = await waiting(ada);
    expect((await ada.post(`/v1/research/${run.id}/cancel`)).status).toBe(200);
    const over = await ended(ada, run);
    expect(over).toMatchObject({ status: 'cancelled', reason: 'asked' });
    expect(over.calls).toMatchObject([{ status: 'failed', failure: 'cancelled' }]);
    expect((await ada.post(`/v1/research/${run.id}/cancel`)).status).toBe(200);
  });

  it('that is over cannot be cancelled any more', async () => {
    const run = await ended(ada, await started(ada));
    const late = await ada.post(`/v1/research/${run.id}/cancel`);
    expect([late.status, late.body]).toMatchObject([409, { error: { reason: 'already_ended' } }]);
  });

  it('ends with its scratchpad', async () => {
    const run = await waiting(ada);
    await ada.delete(`/v1/scratchpads/${run.scratchpadId}`);
    expect(await ended(ada, run)).toMatchObject({ status: 'cancelled', reason: 'scratchpad_deleted' });
    expect((await ada.get(`/v1/threads/${run.supervisorThreadId}`)).status).toBe(200);
  });

  it('is gone with its thread, and so are the conversations of its agents', async () => {
    const [over, run] = [await ended(ada, await started(ada)), await waiting(ada)];
    for (const one of [over, run]) {
      await ada.delete(`/v1/threads/${one.threadId}`);
      for (const id of [one.supervisorThreadId, ...one.calls.map(({ threadId }) => threadId)]) {
        await until(async () => ((await ada.get(`/v1/threads/${id}`)).status === 404 ? true : undefined));
      }
    }
    for (const { id } of [over, run]) expect((await ada.get(`/v1/research/${id}`)).status).toBe(404);
    const { text } = await ada.get(`/v1/audit/export?stream=research-${run.id}`);
    expect(text).toMatch(/research\.call_finished[^]*research\.cancelled[^]*thread_deleted/);
  });

  it('ends with its owner, and nothing of it can be read', async () => {
    const eve = await stack.user('Eve');
    const run = await waiting(eve);
    expect((await stack.admin.delete(`/v1/users/${eve.userId}`)).status).toBe(200);
    const text = await until(async () => {
      const { text: exported } = await stack.admin.get(
        `/v1/audit/export?tenant=${eve.userId}&stream=research-${run.id}`,
      );
      return exported.includes('research.cancelled') ? exported : undefined;
    });
    expect(text).toContain('owner_erased');
    expect(text).not.toContain('whales');
  });

  it('is claimed again when the queue has lost it, and still ends once', async () => {
    let isOpen = false;
    answer = async (request) => {
      if (request.turns > 0 || isOpen) return say('Because.');
      await until(async () => (isOpen ? true : undefined), 30_000);
      return say('Late.');
    };
    const run = await started(ada, { harness: 'native', workers: 0 });
    await until(async () => ((await look(ada, run)).status === 'running' ? true : undefined));
    const lost = await stack.redis.keys('bull:research:*');
    await stack.redis.del(lost);
    await until(async () => ((await look(ada, run)).attempt > 1 ? true : undefined), 30_000);
    isOpen = true;
    expect(await ended(ada, run)).toMatchObject({ status: 'completed' });
    const { text } = await ada.get(`/v1/audit/export?stream=research-${run.id}`);
    expect(text.match(/"type":"research\.(completed|failed|cancelled)"/g)).toHaveLength(1);
  });
});
