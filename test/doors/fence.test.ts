import { randomUUID } from 'node:crypto';
import type { Operation } from '../../src/application/operation/operation.js';
import { operations } from '../../src/application/registry.js';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { modelServer, type ModelServer } from '../support/model-server.js';
import type { RestClient, RestReply } from '../support/rest-client.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

type Fields = Readonly<Record<string, unknown>>;

let stack: Stack;
let models: ModelServer;
let ada: Member;
let log: ReturnType<typeof openEventStore>;
beforeAll(async () => {
  models = await modelServer(() => 'silence');
  stack = await startStack({ modelUrl: models.url });
  ada = await stack.user('Ada');
  log = openEventStore(stack.backends.eventstoreUrl, makeLogger({ level: 'silent' }));
});
afterAll(async () => {
  await log.close();
  await stack.stop();
  await models.close();
});

const idIn = (reply: RestReply): string => (reply.data as { id: string }).id; // everything that is made has an id
const newThread = async () => idIn(await ada.post('/v1/threads', { title: 'Plan' }));
const newPad = async () => idIn(await ada.post('/v1/scratchpads', { threadId: await newThread() }));
const newPadWith = async (content: string) => {
  const pad = await newPad();
  await ada.put(`/v1/scratchpads/${pad}/content`, { content });
  await ada.post(`/v1/scratchpads/${pad}/entries`, { content });
  return pad;
};
const newWorkspace = async () => idIn(await ada.post('/v1/workspaces', { name: 'Team' }));
const newMember = async () => (await stack.user('Member')).userId;
const newMessage = async (threadId: string) =>
  idIn(await ada.post(`/v1/threads/${threadId}/messages`, { role: 'user', content: 'hello' }));
const bound = async (role: string) => {
  const reply = await ada.post('/v1/keys', { name: 'bound', scratchpadId: await newPad(), padRole: role });
  return stack.client((reply.data as { key: string }).key); // as key.create declares
};
const agentInput = (more: Fields = {}) => ({
  harness: 'native',
  name: 'Scout',
  model: 'm',
  provider: 'anthropic',
  credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
  ...more,
});

interface Case {
  readonly input: Fields;
  /** The same command with another request. */
  readonly other?: Fields;
  readonly client?: RestClient;
}

const newAgent = async () => {
  const { data } = await ada.post('/v1/agents/enroll', agentInput({ idempotencyKey: randomUUID() }));
  return (data as { agent: { id: string } }).agent.id; // as agent.enroll declares
};
const newResearch = async () => ({
  threadId: await newThread(),
  supervisorAgentId: await newAgent(),
  question: 'Why?',
});

/** For every command: a request that succeeds, and another one under the same key. */
const cases: Readonly<Record<string, () => Promise<Case>>> = {
  'user.create': async () => ({ input: { name: 'Eve' }, other: { name: 'Eva' }, client: stack.admin }),
  'user.erase': async () => ({ input: { userId: await newMember() }, client: stack.admin }),
  'workspace.create': async () => ({ input: { name: 'Team' }, other: { name: 'Teams' } }),
  'workspace.member.add': async () => {
    const workspaceId = await newWorkspace();
    const [memberId, another] = [await newMember(), await newMember()];
    return { input: { workspaceId, memberId }, other: { workspaceId, memberId: another } };
  },
  'workspace.member.remove': async () => {
    const workspaceId = await newWorkspace();
    const [memberId, another] = [await newMember(), await newMember()];
    for (const member of [memberId, another]) {
      await ada.post(`/v1/workspaces/${workspaceId}/members`, { memberId: member });
    }
    return { input: { workspaceId, memberId }, other: { workspaceId, memberId: another } };
  },
  'key.create': async () => ({ input: { name: 'key' }, other: { name: 'other' } }),
  'key.revoke': async () => ({ input: { keyId: idIn(await ada.post('/v1/keys', { name: 'key' })) } }),
  'thread.create': async () => ({ input: { title: 'Plan' }, other: { title: 'Plans' } }),
  'thread.update': async () => {
    const threadId = await newThread();
    return { input: { threadId, title: 'Changed' }, other: { threadId, title: 'Otherwise' } };
  },
  'thread.delete': async () => ({ input: { threadId: await newThread() } }),
  'message.append': async () => {
    const message = { threadId: await newThread(), role: 'user' };
    return { input: { ...message, content: 'hello' }, other: { ...message, content: 'good bye' } };
  },
  'message.delete': async () => {
    const threadId = await newThread();
    const [messageId, another] = [await newMessage(threadId), await newMessage(threadId)];
    return { input: { threadId, messageId }, other: { threadId, messageId: another } };
  },
  'scratchpad.create': async () => ({ input: { threadId: await newThread() } }),
  'scratchpad.metadata.set': async () => {
    const scratchpadId = await newPad();
    return { input: { scratchpadId, metadata: { a: 'b' } }, other: { scratchpadId, metadata: { a: 'c' } } };
  },
  'scratchpad.delete': async () => ({ input: { scratchpadId: await newPad() } }),
  'scratchpad.content.set': async () => {
    const scratchpadId = await newPad();
    return { input: { scratchpadId, content: 'one' }, other: { scratchpadId, content: 'two' } };
  },
  'scratchpad.content.clear': async () => ({ input: { scratchpadId: await newPadWith('words') } }),
  'scratchpad.entry.append': async () => {
    const scratchpadId = await newPad();
    return { input: { scratchpadId, content: 'one' }, other: { scratchpadId, content: 'two' } };
  },
  'scratchpad.entry.clear': async () => ({ input: { scratchpadId: await newPadWith('words') } }),
  'scratchpad.clear': async () => ({ input: { scratchpadId: await newPadWith('words') } }),
  update_scratchpad: async () => ({
    input: { content: 'one' },
    other: { content: 'two' },
    client: await bound('supervisor'),
  }),
  append_scratchpad: async () => ({ input: { note: 'one' }, other: { note: 'two' }, client: await bound('worker') }),
  'agent.enroll': async () => ({ input: agentInput(), other: agentInput({ name: 'Other' }) }),
  'research.start': async () => {
    const input = await newResearch();
    return { input, other: { ...input, question: 'How?' } };
  },
  'research.cancel': async () => ({ input: { researchId: idIn(await ada.post('/v1/research', await newResearch())) } }),
  'credential.delete': async () => {
    await ada.post('/v1/agents/enroll', agentInput({ idempotencyKey: randomUUID() }));
    const [credential] = (await ada.get('/v1/credentials')).data as { id: string }[]; // as credential.list declares
    return { input: { credentialId: credential?.id } };
  },
};

/** Commands that store nothing in the log, so that there is nothing to do twice. */
const withoutEvents = ['projection.rebuild'];
const commands = operations.filter(({ kind, name }) => kind === 'command' && !withoutEvents.includes(name));

function send(client: RestClient, { http }: Operation, input: Fields, key: string): Promise<RestReply> {
  const [method = '', template = ''] = http.split(' ');
  const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(([, field]) => field ?? '');
  const path = template.replace(/\{(\w+)\}/g, (_, field: string) => String(input[field]));
  const body = Object.fromEntries(Object.entries(input).filter(([field]) => !inPath.includes(field)));
  const isEmpty = Object.keys(body).length === 0;
  return client.send(method, path, isEmpty ? undefined : body, { 'idempotency-key': key });
}

/** What was answered, without the plain key that is shown once. */
const answered = ({ data }: RestReply): unknown =>
  JSON.parse(JSON.stringify(data), (name, value: unknown) =>
    name === 'key' && typeof value === 'string' && value.startsWith('plm_') ? undefined : value,
  );

/** Every event but those that say that nothing was done again, and what is written after the answer. */
const effects = async () =>
  (await log.readAll(undefined, 1_000_000)).filter(
    ({ type, metadata }) =>
      type !== 'agent.enrollment_replayed' && (metadata['actor'] as { type: string }).type !== 'system',
  ).length;

describe.each(commands.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  it('sent twice under one key has one effect and one answer; another request under it is a conflict', async () => {
    const { input, other, client = ada } = (await cases[name]?.()) ?? { input: {} };
    const key = randomUUID();
    const first = await send(client, operation, input, key);
    expect([first.code, first.status]).toEqual([undefined, operation.creates ? 201 : 200]);
    const before = await effects();
    const second = await send(client, operation, input, key);
    expect([second.code, second.status]).toEqual([undefined, first.status]);
    expect(answered(second)).toEqual(answered(first));
    expect(second.body).toMatchObject({ replayed: true });
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await effects()).toBe(before);
    if (other) {
      const collision = await send(client, operation, other, key);
      expect([collision.status, collision.code]).toEqual([409, 'conflict']);
      expect(await effects()).toBe(before);
    }
  });
});

describe('the list of cases', () => {
  it('has every command', () => expect(Object.keys(cases).sort()).toEqual(commands.map(({ name }) => name).sort()));
});
