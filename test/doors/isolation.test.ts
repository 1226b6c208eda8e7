import { randomUUID } from 'node:crypto';
import { findAgent } from '../../projections/agents.js';
import { findAuditHead, listAudit, listAuditOf } from '../../projections/audit.js';
import { listCredentials } from '../../projections/credentials.js';
import { listKeys } from '../../projections/keys.js';
import { findMessage } from '../../projections/messages.js';
import { findResearch, listResearch } from '../../projections/research.js';
import { findScratchpad, findScratchpadOfThread } from '../../projections/scratchpads.js';
import { findThread, listThreads } from '../../projections/threads.js';
import { findUser } from '../../projections/users.js';
import { findWorkspace } from '../../projections/workspaces.js';
import type { Operation } from '../../src/application/operation/operation.js';
import { newId, type IdKind } from '../../src/application/kernel/ids.js';
import { operations } from '../../src/application/registry.js';
import { isIdSchema } from '../../src/application/kernel/schemas.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { openDatabase } from '../../src/infrastructure/postgres/database.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { rpc } from '../support/mcp-client.js';
import { modelServer, type ModelServer } from '../support/model-server.js';
import type { RestReply } from '../support/rest-client.js';
import { rootKeyOf } from '../support/root-key.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

/** Generated from the registry: every operation that names something by its id, in the path or in the body. */
const naming = operations
  .map((operation) => ({
    operation,
    ids: Object.keys(operation.input.shape).filter((field) => isIdSchema(operation.input.shape[field])),
  }))
  // An auditor's filter, refused to members as a scope and tested with the audit trail.
  .map(({ operation, ids }) => ({ operation, ids: ids.filter((field) => field !== 'tenant') }))
  .filter(({ ids }) => ids.length > 0);

const kindOf: Readonly<Record<string, IdKind>> = {
  userId: 'user',
  memberId: 'user',
  workspaceId: 'workspace',
  keyId: 'key',
  threadId: 'thread',
  messageId: 'message',
  scratchpadId: 'scratchpad',
  credentialId: 'credential',
  researchId: 'research',
};

/** Values for the fields that are not ids, where an operation needs one. */
const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'key.create': { name: 'key' },
  'research.start': { question: 'Why?' },
  'thread.update': { title: 'changed' },
  'message.append': { role: 'user', content: 'hello' },
  'scratchpad.metadata.set': { metadata: { a: 'b' } },
  'scratchpad.content.set': { content: 'text' },
  'scratchpad.entry.append': { content: 'entry' },
};

type Ids = Readonly<Record<string, string>>;

let stack: Stack;
let models: ModelServer;
let ada: Member;
let bob: Member;
let carol: Member;
let hers: Ids;
beforeAll(async () => {
  // A model that never answers: research goes on for as long as it is looked at.
  models = await modelServer(() => 'silence');
  stack = await startStack({ modelUrl: models.url });
  [ada, bob, carol] = [await stack.user('Ada'), await stack.user('Bob'), await stack.user('Carol')];
  hers = await thingsOf(ada);
});
afterAll(async () => {
  await stack.stop();
  await models.close();
});

const idIn = (data: unknown): string => (data as { id: string }).id; // everything that is made has an id

/** One of everything, belonging to a member. */
async function thingsOf(owner: Member): Promise<Ids> {
  const threadId = idIn((await owner.post('/v1/threads', { title: 'Plan' })).data);
  const scratchpadId = idIn((await owner.post('/v1/scratchpads', { threadId })).data);
  const messageId = idIn((await owner.post(`/v1/threads/${threadId}/messages`, { role: 'user', content: 'hi' })).data);
  const keyId = idIn((await owner.post('/v1/keys', { name: 'key' })).data);
  const workspaceId = idIn((await owner.post('/v1/workspaces', { name: 'Team' })).data);
  await owner.post(`/v1/workspaces/${workspaceId}/members`, { memberId: carol.userId });
  const enrolled = await owner.post('/v1/agents/enroll', {
    harness: 'native',
    name: 'Scout',
    model: 'm',
    provider: 'anthropic',
    idempotencyKey: randomUUID(),
    credential: { mode: 'intake', type: 'api_key', value: 'sk-of-a-tenant' },
  });
  const agentId = idIn((enrolled.data as { agent: unknown }).agent); // as agent.enroll declares
  const research = { threadId, supervisorAgentId: agentId, question: 'Why?' };
  const researchId = idIn((await owner.post('/v1/research', research)).data);
  const [credential] = (await owner.get('/v1/credentials')).data as unknown[];
  return {
    userId: owner.userId,
    memberId: carol.userId,
    threadId,
    scratchpadId,
    messageId,
    keyId,
    workspaceId,
    agentId,
    supervisorAgentId: agentId,
    credentialId: idIn(credential),
    researchId,
  };
}

function call(client: Member, { name, http }: Operation, ids: Ids) {
  const [method = '', template = ''] = http.split(' ');
  const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(([, field]) => field ?? '');
  const path = template.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(ids[field] ?? ''));
  const body = {
    ...values[name],
    ...Object.fromEntries(Object.entries(ids).filter(([field]) => !inPath.includes(field))),
  };
  return client.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : body, {
    'x-correlation-id': correlationId,
  });
}

/** The same over MCP, for what is a tool there. */
const callTool = (client: Member, { name }: Operation, args: object, scratchpadId?: string) =>
  rpc(stack.url, client.key, {
    method: 'tools/call',
    params: { name: name.replaceAll('.', '_'), arguments: args },
    headers: {
      'x-correlation-id': correlationId,
      ...(scratchpadId !== undefined && { 'palimpsest-scratchpad': scratchpadId }),
    },
  });
const isTool = ({ kind }: Operation): boolean => kind !== 'stream' && kind !== 'events';
const notFound = '{"error":{"code":"not_found","message":"There is no such resource.","retryable":false}}';

const correlationId = randomUUID();
/** Of an answer, but for those that say when and over which connection it came. */
const headersOf = (reply: Pick<RestReply, 'headers'> | undefined) =>
  [...(reply?.headers ?? [])].filter(([name]) => !['date', 'keep-alive', 'connection'].includes(name));
const pick = (ids: Ids, fields: readonly string[]): Ids =>
  Object.fromEntries(fields.map((field) => [field, ids[field] ?? '']));
const absent = (fields: readonly string[]): Ids =>
  Object.fromEntries(
    fields.map((field) => [
      field,
      field.endsWith('gentId') ? randomUUID() : newId(kindOf[field] ?? 'thread', new Date()),
    ]),
  );
const malformed = (fields: readonly string[]): Ids =>
  Object.fromEntries(fields.map((field) => [field, "nonsense'); drop table"]));

describe.each(naming.map((one) => [one.operation.name, one] as const))('%s', (_, { operation, ids }) => {
  it("answers another tenant's, a missing and a malformed id with the same bytes", async () => {
    const replies = [
      await call(bob, operation, pick(hers, ids)),
      await call(bob, operation, absent(ids)),
      await call(bob, operation, malformed(ids)),
    ];
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(headersOf(replies[1])).toEqual(headersOf(replies[0]));
    expect(headersOf(replies[2])).toEqual(headersOf(replies[0]));
  });

  it('answers its owner', async () => {
    // Deleting and creating need things of their own; a scratchpad is created on a thread without one.
    const dan = await stack.user('Dan');
    const his = await thingsOf(dan);
    if (operation.name === 'scratchpad.create') await dan.delete(`/v1/scratchpads/${his['scratchpadId'] ?? ''}`);
    const reply = await call(dan, operation, pick(his, ids));
    expect([reply.status, reply.code]).toEqual([operation.creates ? 201 : 200, undefined]);
  });
});

describe.each(naming.filter(({ operation }) => isTool(operation)).map((one) => [one.operation.name, one] as const))(
  '%s over MCP',
  (name, { operation, ids }) => {
    it("answers another tenant's, a missing and a malformed id with the same bytes", async () => {
      const named = [pick(hers, ids), absent(ids), malformed(ids)];
      expectOneNotFound(await Promise.all(named.map((one) => callTool(bob, operation, { ...values[name], ...one }))));
    });

    it('answers its owner', async () => {
      const eve = await stack.user('Eve');
      const own = await thingsOf(eve);
      if (name === 'scratchpad.create') await eve.delete(`/v1/scratchpads/${own['scratchpadId'] ?? ''}`);
      const { text } = await callTool(eve, operation, { ...values[name], ...pick(own, ids) });
      expect([text.includes('"structuredContent"'), text.includes('"isError"')]).toEqual([true, false]);
    });
  },
);

function expectOneNotFound(replies: readonly Awaited<ReturnType<typeof rpc>>[]): void {
  const [first, ...others] = replies;
  expect(first?.text).toContain(JSON.stringify(notFound));
  for (const other of others) {
    expect([other.status, other.text]).toEqual([first?.status, first?.text]);
    expect(headersOf(other)).toEqual(headersOf(first));
  }
}

/** A header names what tools act on. */
const tools = operations.filter(({ tool }) => tool);
const toolInputs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  append_scratchpad: { note: 'a note' },
  update_scratchpad: { content: 'a plan' },
};

describe.each(tools.map((operation) => [operation.name, operation] as const))('the tool %s', (name, operation) => {
  const { http } = operation;
  const use = (client: Member, scratchpadId: string) => {
    const [method = '', path = ''] = http.split(' ');
    return client.send(method, path, toolInputs[name], {
      'x-correlation-id': correlationId,
      'palimpsest-scratchpad': scratchpadId,
    });
  };

  it("answers another tenant's, a missing and a malformed scratchpad with the same bytes", async () => {
    const named = [hers['scratchpadId'] ?? '', newId('scratchpad', new Date()), "nonsense'); drop table"];
    const replies = await Promise.all(named.map((scratchpadId) => use(bob, scratchpadId)));
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(headersOf(replies[1])).toEqual(headersOf(replies[0]));
    expect(headersOf(replies[2])).toEqual(headersOf(replies[0]));
  });

  it("answers another tenant's, a missing and a malformed scratchpad with the same bytes over MCP", async () => {
    const named = [hers['scratchpadId'] ?? '', newId('scratchpad', new Date()), "nonsense'); drop table"];
    expectOneNotFound(await Promise.all(named.map((pad) => callTool(bob, operation, toolInputs[name] ?? {}, pad))));
  });

  it('answers its owner over MCP', async () => {
    const { text } = await callTool(carol, operation, toolInputs[name] ?? {}, (await thingsOf(carol))['scratchpadId']);
    expect([text.includes('"structuredContent"'), text.includes('"isError"')]).toEqual([true, false]);
  });

  it('answers its owner', async () => {
    const dan = await stack.user('Dan');
    const his = await thingsOf(dan);
    const reply = await use(dan, his['scratchpadId'] ?? '');
    expect([reply.status, reply.code]).toEqual([200, undefined]);
  });
});

describe('what is left of a tenant after all of that', () => {
  it('is untouched', async () => {
    for (const path of [
      `/v1/threads/${hers['threadId'] ?? ''}`,
      `/v1/scratchpads/${hers['scratchpadId'] ?? ''}/view`,
      '/v1/me',
    ]) {
      expect((await ada.get(path)).status).toBe(200);
    }
    expect((await ada.get(`/v1/scratchpads/${hers['scratchpadId'] ?? ''}/view`)).data).toMatchObject({
      entryCount: 0,
      contentRevision: 0,
    });
  });
});

describe('row-level security alone, with the application asking for the wrong owner', () => {
  it("shows nothing of another tenant's", async () => {
    const { databaseUrl: url, keks } = stack.backends;
    const kek = await rootKeyOf(url, keks);
    const database = openDatabase({ url, kek, log: makeLogger({ level: 'silent' }) });
    const dbs = makeReadDbs(database);
    const page = { order: 'desc', limit: 10, after: undefined } as const;
    const look = (db: ReturnType<typeof dbs.for>) =>
      Promise.all([
        findUser(db, ada.userId),
        findThread(db, ada.userId, hers['threadId'] ?? ''),
        findMessage(db, ada.userId, hers['threadId'] ?? '', hers['messageId'] ?? ''),
        findScratchpad(db, ada.userId, hers['scratchpadId'] ?? ''),
        findScratchpadOfThread(db, ada.userId, hers['threadId'] ?? ''),
        findWorkspace(db, ada.userId, hers['workspaceId'] ?? ''),
        listThreads(db, ada.userId, page).then(([row]) => row),
        listKeys(db, ada.userId, page).then(([row]) => row),
        findAgent(db, ada.userId, hers['agentId'] ?? ''),
        findAgent(db, undefined, hers['agentId'] ?? ''),
        listCredentials(db, ada.userId, page).then(([row]) => row),
        listAudit(db, { ownerId: ada.userId }, page).then(([row]) => row),
        listAuditOf(db, ada.userId, [`scratchpad-${hers['scratchpadId'] ?? ''}`], page).then(([row]) => row),
        findAuditHead(db, ada.userId),
        findResearch(db, ada.userId, hers['researchId'] ?? ''),
        listResearch(db, ada.userId, page).then(([row]) => row),
      ]);
    expect((await look(dbs.for(ada.userId))).every((row) => row !== undefined)).toBe(true);
    expect((await look(dbs.for(bob.userId))).every((row) => row === undefined)).toBe(true);
    await database.close();
  });
});
