import { randomUUID } from 'node:crypto';
import {
  ModelFailed,
  CredentialMissing,
  type Conversation,
  type Models,
  type ModelTurn,
} from '../../../src/application/ports/models.js';
import { makeResearchWork } from '../../../src/application/research/run.js';
import { sha256 } from '../../../src/application/kernel/canonical-json.js';
import { agent, retire } from '../../../src/domain/agent/agent.js';
import { claim, research } from '../../../src/domain/research/research.js';
import type { PadRole } from '../../../src/domain/kernel/roles.js';
import { isRefusal } from '../../../src/domain/kernel/refusal.js';
import { erase, user } from '../../../src/domain/user/user.js';
import { dataOf, memberOf, memoryApp, refusalOf, type MemoryApp } from '../../support/memory-app.js';
import { until } from '../../support/until.js';

type Made = { readonly id: string; readonly key: string };
type Asked = { readonly system: string; readonly conversation: Conversation; readonly role: PadRole };
type Script = (asked: Asked, signal: AbortSignal) => Promise<ModelTurn> | ModelTurn;

/** Agents say what the test at hand makes them say. */
let script: Script;
const scripted: Models = {
  unavailableReason: async ({ harness }) =>
    harness === 'offline' || harness === 'native' ? undefined : 'harness_not_runnable',
  open: async (_, { role }) => ({
    complete: async (conversation, signal) => script({ system: conversation.system, conversation, role }, signal),
  }),
};

let app: MemoryApp;
let ada: Made;
let bob: Made;
beforeAll(async () => {
  app = await memoryApp({ models: scripted });
  [ada, bob] = [await memberOf(app, 'Ada'), await memberOf(app, 'Bob')];
});

async function enrolled(owner: Made, harness = 'offline'): Promise<string> {
  const reply = await app.call(owner.key, 'agent.enroll', {
    harness,
    name: 'Scout',
    persona: 'Careful.',
    model: 'anthropic/m',
    provider: 'anthropic',
    credential: { mode: 'intake', type: 'api_key', value: 'sk-of-an-agent' },
    idempotencyKey: randomUUID(),
  });
  return dataOf<{ agent: Made }>(reply).agent.id;
}

const newThread = async () => dataOf<Made>(await app.call(ada.key, 'thread.create', { title: 'Plan' })).id;

interface Started {
  readonly id: string;
  readonly threadId: string;
  readonly scratchpadId: string;
  readonly supervisorThreadId: string;
  readonly supervisorAgentId: string;
  readonly workerAgentIds: readonly string[];
}

async function started(workers = 2, more: Readonly<Record<string, unknown>> = {}): Promise<Started> {
  const workerAgentIds = await Promise.all(Array.from({ length: workers }, () => enrolled(ada)));
  const input = { threadId: await newThread(), supervisorAgentId: await enrolled(ada), workerAgentIds };
  return dataOf<Started>(await app.call(ada.key, 'research.start', { ...input, question: 'Why whales?', ...more }));
}

const aggregatesOf = ({ id }: Made) => app.tenants.ofSystem(id, randomUUID()).aggregates;
const never = new AbortController().signal;
const work = ({ id }: Started, stopping = never) => {
  const { gateway, models, tenants, store } = app;
  const { clock, metrics, logger } = app.needs;
  return makeResearchWork({ gateway, models, tenants, store, clock, metrics, logger })(id, stopping);
};

const eventsOf = async ({ id }: Started) =>
  (await app.log.readStream(`research-${id}`)).map(({ type, data }) => ({ type, data }));
const typesOf = async (run: Started) => (await eventsOf(run)).map(({ type }) => type.replace('research.', ''));
const resultsOf = async (run: Started) =>
  (await eventsOf(run))
    .filter(({ type }) => type === 'research.call_finished')
    .map(({ data }) => (data['failure'] ?? data['outcome']) as string); // as the event declares
const endOf = async (run: Started) => (await eventsOf(run)).at(-1);
/** The texts of a thread's messages, opened. */
const messagesOf = async (threadId: string) =>
  (await app.store.events(`thread-${threadId}`, 0, 100)).flatMap(({ type, data }) =>
    type === 'message.appended' ? [String(data['content'])] : [],
  );
const digestOf = (text: string) => ({ sha256: sha256(text), bytes: Buffer.byteLength(text) });
const entriesOf = async ({ scratchpadId }: Started) =>
  dataOf<{ content: string; author: { type: string; id: string } }[]>(
    await app.call(ada.key, 'scratchpad.entry.list', { scratchpadId, limit: 100 }),
  );

const say = (text: string): ModelTurn => ({ text, calls: [] });
const use = (...calls: readonly (readonly [tool: string, input: unknown])[]): ModelTurn => ({
  text: '',
  calls: calls.map(([tool, input], n) => ({ id: `${n}`, tool, input })),
});
const turnNumber = ({ conversation }: Asked) =>
  conversation.messages.filter(({ role }) => role === 'assistant').length + 1;
const lastAnswers = ({ conversation }: Asked): string[] => {
  const last = conversation.messages.at(-1);
  return last?.role === 'tool' ? last.results.map(({ text }) => text) : [];
};
/** A supervisor that delegates these tasks in one turn, then answers with their results. */
const delegating =
  (...tasks: readonly string[]): Script =>
  (asked) =>
    turnNumber(asked) === 1
      ? use(...tasks.map((task) => ['delegate', { task }] as const))
      : say(lastAnswers(asked).join('\n'));
const byRole =
  (supervisor: Script, worker: Script): Script =>
  (asked, signal) =>
    (asked.role === 'supervisor' ? supervisor : worker)(asked, signal);

describe('research', () => {
  it('shares one scratchpad, which is made with it when the thread has none', async () => {
    const run = await started();
    const pad = await app.call(ada.key, 'scratchpad.content.get', { scratchpadId: run.scratchpadId });
    expect(refusalOf(pad)).toBe('ok');
    const workers = run.workerAgentIds;
    const again = await app.call(ada.key, 'research.start', {
      threadId: run.threadId,
      supervisorAgentId: run.supervisorAgentId,
      workerAgentIds: workers,
      question: 'Why?',
    });
    expect(dataOf(again)).toMatchObject({ scratchpadId: run.scratchpadId });
  });

  it('has its agents as authors in it, and each of their conversations in a thread of its own', async () => {
    script = byRole(
      (asked) =>
        turnNumber(asked) === 1
          ? use(
              ['update_scratchpad', { content: 'The plan.' }],
              ['delegate', { task: 'A' }],
              ['delegate', { task: 'B' }],
            )
          : say('So.'),
      (asked) => (turnNumber(asked) === 1 ? use(['append_scratchpad', { note: 'found' }]) : say('done')),
    );
    const run = await started();
    await work(run);
    const types = ['started', 'claimed', 'delegated', 'delegated', 'call_finished', 'call_finished', 'completed'];
    expect(await typesOf(run)).toEqual(types);
    const entries = await entriesOf(run);
    expect(entries.map(({ author }) => author.id).sort()).toEqual([...run.workerAgentIds].sort());
    expect(entries.every(({ author }) => author.type === 'agent')).toBe(true);
    const [content] = (await app.log.readStream(`scratchpad-${run.scratchpadId}`)).slice(-1);
    expect(content?.data).toMatchObject({ author: { type: 'agent', id: run.supervisorAgentId } });
    const threads = (await eventsOf(run)).flatMap(({ data }) => (data['callId'] && data['threadId'] ? [data] : []));
    expect(new Set([run.threadId, run.supervisorThreadId, ...threads.map((one) => one['threadId'])]).size).toBe(4);
    for (const { threadId, agentId } of threads) {
      const messages = (await app.log.readStream(`thread-${String(threadId)}`)).filter(
        ({ type }) => type === 'message.appended',
      );
      expect(messages.map(({ data }) => [data['role'], (data['author'] as { id: string }).id])).toEqual([
        ['user', run.supervisorAgentId],
        ['assistant', agentId],
        ['tool', agentId],
        ['assistant', agentId],
      ]);
    }
    const parent = (await app.log.readStream(`thread-${run.threadId}`)).map(({ type }) => type);
    expect(parent).not.toContain('message.appended');
  });

  it('stores what its agents did with the scratchpad by reference, and none of its words', async () => {
    const run = await started(1);
    const { scratchpadId } = run;
    await app.call(ada.key, 'scratchpad.entry.append', { scratchpadId, content: 'canary of its owner' });
    let [refused, read] = ['', ''];
    script = byRole(
      (asked) => {
        if (turnNumber(asked) === 1) {
          return use(
            ['update_scratchpad', { content: 'canary of the plan' }],
            ['append_scratchpad', { note: 'canary of a note' }],
            ['append_scratchpad', { 'canary of a field': 'canary' }],
            ['delegate', { task: 'A' }],
          );
        }
        if (turnNumber(asked) === 2) {
          refused = lastAnswers(asked)[2] ?? '';
          return use(['read_scratchpad', {}]);
        }
        read = lastAnswers(asked).join();
        return say('So.');
      },
      (asked) => (turnNumber(asked) === 1 ? use(['append_scratchpad', { note: 'canary of a worker' }]) : say('done')),
    );
    await work(run);
    const words = ['of its owner', 'of the plan', 'of a note', 'of a worker'].map((end) => `canary ${end}`);
    expect(words.filter((text) => !read.includes(text))).toEqual([]);

    const calls = (await eventsOf(run)).filter(({ type }) => type === 'research.delegated');
    const threads = [run.supervisorThreadId, ...calls.map(({ data }) => String(data['threadId']))];
    const texts = await Promise.all(threads.map(messagesOf));
    expect(texts.flat().join('\n')).not.toContain('canary');
    expect(refused).toMatch(/^error: validation_failed: /);
    const wrong = digestOf('{"canary of a field":"canary"}');
    const [plan, note] = [{ content: digestOf('canary of the plan') }, { note: digestOf('canary of a note') }];
    expect(texts[0]?.slice(1)).toEqual([
      [
        `[update_scratchpad] ${JSON.stringify(plan)}`,
        `[append_scratchpad] ${JSON.stringify(note)}`,
        `[append_scratchpad] ${JSON.stringify({ input: wrong })}`,
        '[delegate] {"task":"A"}',
      ].join('\n'),
      [
        `[update_scratchpad] ${JSON.stringify({ scratchpadId, ...plan, revision: 1 })}`,
        `[append_scratchpad] ${JSON.stringify({ scratchpadId, ...note, index: 2 })}`,
        `[append_scratchpad] ${refused}`,
        '[delegate] {"outcome":"succeeded","answer":"done"}',
      ].join('\n'),
      '[read_scratchpad] {}',
      `[read_scratchpad] ${JSON.stringify({
        scratchpadId,
        text: digestOf(read),
        contentRevision: 1,
        entryCount: 3,
        earlier: 0,
      })}`,
      'So.',
    ]);
    const recorded = await app.log.readStream(`scratchpad_ledger-${scratchpadId}`);
    expect(recorded[1]?.data).toMatchObject({ index: 2, ...digestOf('canary of a note') });
  });

  it('offers each role its own tools, and none that takes an id', async () => {
    const offered = new Map<string, Conversation['tools']>();
    script = byRole(
      (asked) => {
        offered.set('supervisor', asked.conversation.tools);
        return turnNumber(asked) === 1 ? use(['delegate', { task: 'A' }]) : say('So.');
      },
      (asked) => {
        offered.set('worker', asked.conversation.tools);
        return say('done');
      },
    );
    await work(await started(1));
    const names = (role: string) =>
      offered
        .get(role)
        ?.map(({ name }) => name)
        .sort();
    expect(names('supervisor')).toEqual(['append_scratchpad', 'delegate', 'read_scratchpad', 'update_scratchpad']);
    expect(names('worker')).toEqual(['append_scratchpad', 'read_scratchpad']);
    expect(JSON.stringify([...offered.values()])).not.toMatch(/scratchpadId|threadId|agentId/);
  });

  it('runs the calls of one turn at the same time', async () => {
    let together = 0;
    let most = 0;
    script = byRole(delegating('A', 'B', 'C'), async () => {
      together += 1;
      most = Math.max(most, together);
      await until(async () => (most === 3 ? true : undefined));
      together -= 1;
      return say('done');
    });
    const run = await started(3);
    await work(run);
    expect(await resultsOf(run)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('gives the supervisor the result of each call, and no failure as a success', async () => {
    script = byRole(delegating('good', 'silent', 'broken', 'endless', 'keyless'), ({ conversation }) => {
      const [first] = conversation.messages;
      switch (first?.role === 'user' ? first.text : '') {
        case 'good':
          return say('found it');
        case 'silent':
          return say(' ');
        case 'broken':
          throw new ModelFailed(500);
        case 'keyless':
          throw new CredentialMissing();
        default:
          return use(['append_scratchpad', { note: 'still looking' }]);
      }
    });
    const run = await started(2, { maxTurns: 3 });
    await work(run);
    const failures = ['model_failed', 'model_failed', 'turn_limit_reached', 'credential_missing'];
    expect((await resultsOf(run)).sort()).toEqual(['succeeded', ...failures].sort());
    const last = (await app.store.events(`research-${run.id}`, 0, 100)).at(-1);
    expect(
      String(last?.data['answer'])
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { outcome: 'succeeded', answer: 'found it' },
      ...failures.map((failure) => ({ outcome: 'failed', failure })),
    ]);
  });

  it('gives mistakes of a model back to it in words', async () => {
    let answers: readonly string[] = [];
    script = (asked) => {
      if (turnNumber(asked) > 1) return ((answers = lastAnswers(asked)), say('So.'));
      return use(
        ['web_search', {}],
        ['append_scratchpad', { text: 'x' }],
        ['append_scratchpad', '{bad'],
        ['delegate', { task: 7 }],
        ['update_scratchpad', { content: 'x', scratchpadId: 'sp_1' }],
      );
    };
    const run = await started(1);
    await work(run);
    expect(answers).toHaveLength(5);
    expect(answers.every((text) => text.startsWith('error: '))).toBe(true);
    expect(await typesOf(run)).toEqual(['started', 'claimed', 'completed']);
    expect(await entriesOf(run)).toEqual([]);
  });

  it('delegates no more than it may', async () => {
    script = byRole(delegating('A', 'B', 'C'), () => say('done'));
    const run = await started(1, { maxCalls: 2 });
    await work(run);
    expect(await resultsOf(run)).toEqual(['succeeded', 'succeeded']);
    expect((await endOf(run))?.type).toBe('research.completed');
  });

  it('fails with its reason when the supervisor does not come to an answer', async () => {
    script = () => use(['read_scratchpad', {}]);
    const endless = await started(0, { maxTurns: 2 });
    await work(endless);
    expect(await endOf(endless)).toMatchObject({ type: 'research.failed', data: { reason: 'turn_limit_reached' } });
    script = () => {
      throw new ModelFailed(401);
    };
    const broken = await started(0);
    await work(broken);
    expect(await endOf(broken)).toMatchObject({ type: 'research.failed', data: { reason: 'model_failed' } });
  });

  it('fails when a conversation grows beyond its limit in memory', async () => {
    script = () => use(...Array.from({ length: 32 }, () => ['read_scratchpad', {}] as const));
    const run = await started(0);
    const { scratchpadId } = run;
    await app.call(ada.key, 'scratchpad.content.set', { scratchpadId, content: 'x'.repeat(1_000_000) });
    await work(run);
    expect(await endOf(run)).toMatchObject({ type: 'research.failed', data: { reason: 'conversation_too_long' } });
  });

  it('ends by its deadline, though no model ever answers, and says so of what was open', async () => {
    script = byRole(delegating('A', 'B'), () => new Promise<never>(() => undefined));
    const run = await started(2, { deadlineSeconds: 1 });
    await work(run);
    expect(await resultsOf(run)).toEqual(['deadline_exceeded', 'deadline_exceeded']);
    expect(await endOf(run)).toMatchObject({ type: 'research.failed', data: { reason: 'deadline_exceeded' } });
  });

  it('stops asking once it is cancelled', async () => {
    let isAborted = false;
    script = byRole(delegating('A'), (_, signal) => {
      signal.addEventListener('abort', () => (isAborted = true));
      return new Promise<never>(() => undefined);
    });
    const run = await started(1);
    const working = work(run);
    await until(async () => ((await typesOf(run)).includes('delegated') ? true : undefined));
    expect(refusalOf(await app.call(ada.key, 'research.cancel', { researchId: run.id }))).toBe('ok');
    await working;
    expect(isAborted).toBe(true);
    expect(await typesOf(run)).toEqual(['started', 'claimed', 'delegated', 'call_finished', 'cancelled']);
    expect(refusalOf(await app.call(ada.key, 'research.cancel', { researchId: run.id }))).toBe('ok');
  });

  it('is handed back when its process stops, and the next attempt says what was lost', async () => {
    const stop = new AbortController();
    script = byRole(delegating('A'), () => new Promise<never>(() => undefined));
    const run = await started(1);
    const working = work(run, stop.signal);
    await until(async () => ((await typesOf(run)).includes('delegated') ? true : undefined));
    stop.abort();
    expect(await working).toBe('stopped');
    script = byRole(delegating('A'), () => say('done'));
    await work(run);
    expect(await resultsOf(run)).toEqual(['worker_lost', 'succeeded']);
    const attempt = ['claimed', 'delegated', 'call_finished'];
    expect(await typesOf(run)).toEqual(['started', ...attempt, ...attempt, 'completed']);
  });

  it('is lost to a process that was replaced at its next step', async () => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    script = byRole(delegating('A'), async () => (await gate, say('late')));
    const run = await started(1);
    const working = work(run);
    await until(async () => ((await typesOf(run)).includes('delegated') ? true : undefined));
    const taken = await aggregatesOf(ada).execute(research, run.id, (state, at) => claim(state, 1, at));
    expect(isRefusal(taken)).toBe(false);
    go();
    await working;
    expect(await resultsOf(run)).toEqual(['worker_lost']);
    expect((await endOf(run))?.type).toBe('research.claimed');
  });

  it('records that an agent was retired meanwhile', async () => {
    const run = await started(1);
    const [workerId = ''] = run.workerAgentIds;
    script = byRole(delegating('A'), async (asked) => {
      if (turnNumber(asked) > 1) return say('done');
      await aggregatesOf(ada).execute(agent, workerId, (state) => retire(state, 'owner_erased'));
      return use(['append_scratchpad', { note: 'late' }]);
    });
    await work(run);
    expect(await resultsOf(run)).toEqual(['agent_retired']);
    expect(await entriesOf(run)).toEqual([]);
  });

  it('ends when its owner is erased, also when its agents meet that before the erasure reaches the run', async () => {
    const eve = await memberOf(app, 'Eve');
    const [supervisorAgentId, workerId] = [await enrolled(eve), await enrolled(eve)];
    const threadId = dataOf<Made>(await app.call(eve.key, 'thread.create', { title: 'Plan' })).id;
    const input = { threadId, supervisorAgentId, workerAgentIds: [workerId], question: 'Why whales?' };
    const run = dataOf<Started>(await app.call(eve.key, 'research.start', input));
    script = byRole(delegating('A'), async () => {
      await aggregatesOf(eve).execute(user, eve.id, erase);
      return use(['append_scratchpad', { note: 'late' }]);
    });
    await work(run);
    expect(await endOf(run)).toMatchObject({ type: 'research.cancelled', data: { reason: 'owner_erased' } });
  });

  it('records that a conversation was deleted while it ran', async () => {
    const forget = (threadId: unknown) => app.call(ada.key, 'thread.delete', { threadId });
    const run = await started(1);
    script = byRole(delegating('A'), async () => {
      const call = (await eventsOf(run)).find(({ type }) => type === 'research.delegated');
      await forget(call?.data['threadId']);
      return say('done');
    });
    await work(run);
    expect(await resultsOf(run)).toEqual(['conversation_lost']);
    const other = await started(0);
    script = async () => (await forget(other.supervisorThreadId), say('So.'));
    await work(other);
    expect(await endOf(other)).toMatchObject({ type: 'research.failed', data: { reason: 'conversation_lost' } });
  });

  it('that an agent asked for is asked in its name', async () => {
    const agentId = await enrolled(ada);
    const { key } = dataOf<Made>(await app.call(ada.key, 'key.create', { name: 'acting', agentId }));
    const input = { threadId: await newThread(), supervisorAgentId: await enrolled(ada), question: 'Why?' };
    const run = dataOf<Started>(await app.call(key, 'research.start', input));
    script = () => say('So.');
    await work(run);
    const opening = (await app.log.readStream(`thread-${run.supervisorThreadId}`)).at(1);
    expect(opening?.data).toMatchObject({ role: 'user', author: { type: 'agent', id: agentId } });
  });

  it('that is over is worked on no more', async () => {
    script = () => say('So.');
    const run = await started(0);
    await work(run);
    const before = await typesOf(run);
    await work(run);
    expect(await typesOf(run)).toEqual(before);
  });
});

describe('research whose thread is gone before anybody takes it up', () => {
  it('asks nobody anything', async () => {
    let isAsked = false;
    script = () => ((isAsked = true), say('So.'));
    const [run, other] = [await started(0), await started(0)];
    await app.call(ada.key, 'thread.delete', { threadId: run.threadId });
    await app.call(ada.key, 'scratchpad.delete', { scratchpadId: other.scratchpadId });
    await work(run);
    await work(other);
    expect(isAsked).toBe(false);
    expect(await endOf(run)).toMatchObject({ type: 'research.cancelled', data: { reason: 'thread_deleted' } });
    expect(await endOf(other)).toMatchObject({ type: 'research.cancelled', data: { reason: 'scratchpad_deleted' } });
  });
});

describe('a research that is asked for', () => {
  it('under one key is started once', async () => {
    const input = { threadId: await newThread(), supervisorAgentId: await enrolled(ada), question: 'Why?' };
    const idempotencyKey = randomUUID();
    const ask = () => app.call(ada.key, 'research.start', input, { idempotencyKey });
    const [first, second] = [await ask(), await ask()];
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(second.result).toMatchObject({ replayed: true });
  });

  it('with an agent or a thread of another tenant looks like one that is not there', async () => {
    const [threadId, supervisorAgentId] = [await newThread(), await enrolled(ada)];
    const foreign = await enrolled(bob);
    const inputs = [
      { threadId, supervisorAgentId: foreign },
      { threadId, supervisorAgentId: randomUUID() },
      { threadId, supervisorAgentId, workerAgentIds: [foreign] },
      { threadId, supervisorAgentId, workerAgentIds: [randomUUID()] },
      { threadId, supervisorAgentId, workerAgentIds: ['nonsense'] },
    ];
    const replies = await Promise.all(
      inputs.map((input) => app.call(ada.key, 'research.start', { ...input, question: 'Why?' })),
    );
    const his = await app.call(bob.key, 'research.start', { threadId, supervisorAgentId: foreign, question: 'Why?' });
    expect(new Set([...replies, his].map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(refusalOf(his)).toBe('not_found');
  });

  it('with an agent that runs elsewhere is refused, and leaves nothing', async () => {
    const threadId = await newThread();
    const supervisorAgentId = await enrolled(ada, 'claude-code');
    const { result } = await app.call(ada.key, 'research.start', { threadId, supervisorAgentId, question: 'Why?' });
    expect(result).toMatchObject({ refused: 'precondition_failed', reason: 'harness_not_runnable' });
    expect((await app.log.readStream(`thread-${threadId}`)).map(({ type }) => type)).toEqual(['thread.created']);
  });
});
