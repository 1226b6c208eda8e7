import type { Tool } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { allScopes } from '../../src/application/access/scopes.js';
import type { Operation } from '../../src/application/operation/operation.js';
import { operations } from '../../src/application/registry.js';
import { toolsOf } from '../../src/application/operation/tools.js';
import { mcpClient, rpc } from '../support/mcp-client.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

let stack: Stack;
let ada: Member;
beforeAll(async () => {
  stack = await startStack();
  ada = await stack.user('Ada');
});
afterAll(() => stack.stop());

const nameOf = ({ name }: Operation) => name.replaceAll('.', '_');
const isEndless = ({ kind }: Operation) => kind === 'stream' || kind === 'events';
const offered = operations.filter((operation) => !isEndless(operation));

async function toolsFor(key: string): Promise<readonly Tool[]> {
  const mcp = await mcpClient(stack.url, key);
  const { tools } = await mcp.client.listTools();
  await mcp.close();
  return tools;
}
const namesFor = async (key: string) => (await toolsFor(key)).map(({ name }) => name);
const adminKey = async () => {
  const { data } = await stack.admin.post('/v1/keys', { name: 'of the administrator' });
  return (data as { key: string }).key; // as key.create declares
};
const keyWith = async (input: Readonly<Record<string, unknown>>) => {
  const { data } = await ada.post('/v1/keys', { name: 'key', ...input });
  return (data as { key: string }).key; // as key.create declares
};
const newPad = async () => {
  const thread = (await ada.post('/v1/threads', {})).data as { id: string };
  return ((await ada.post('/v1/scratchpads', { threadId: thread.id })).data as { id: string }).id;
};

describe('the tools of an administrator', () => {
  let listed: ReadonlyMap<string, Tool>;
  beforeAll(async () => {
    listed = new Map((await toolsFor(await adminKey())).map((tool) => [tool.name, tool]));
  });

  it('are the operations of the registry, but for those that answer without end', () =>
    expect([...listed.keys()]).toEqual(offered.map(nameOf)));

  const each = offered.map((operation) => [nameOf(operation), operation] as const);
  it.each(each)('%s says what the registry says', (name, operation) => {
    const tool = listed.get(name);
    const { input, output, kind, summary, requiresIdempotencyKey } = operation;
    const shown = { idempotencyKey: z.uuid() };
    const fields = kind === 'command' && !operation.tool ? { ...shown, ...input.shape } : input.shape;
    expect(tool?.description).toBe(summary);
    expect(Object.keys(tool?.inputSchema.properties ?? {}).sort()).toEqual(Object.keys(fields).sort());
    expect(tool?.inputSchema).toMatchObject({ additionalProperties: false });
    const own = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    expect(tool?.inputSchema.properties).toMatchObject(own.properties ?? {});
    expect([...(tool?.inputSchema.required ?? [])].sort()).toEqual(
      [...(own.required ?? []), ...(requiresIdempotencyKey ? ['idempotencyKey'] : [])].sort(),
    );
    expect(Object.keys(answerIn(operation, tool?.outputSchema).properties ?? {})).toEqual(
      Object.keys(z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }).properties ?? {}),
    );
  });

  it.each(each)('%s takes the fields that the API document says', async (name, operation) => {
    const fields = await fieldsInDocument(operation);
    const shown = Object.keys(listed.get(name)?.inputSchema.properties ?? {});
    expect(shown.filter((field) => !envelope.includes(field)).sort()).toEqual(fields);
  });

  it.each(each)('%s never takes an owner', (name) => {
    const fields = Object.keys(listed.get(name)?.inputSchema.properties ?? {});
    expect(fields.filter((field) => /^(owner|tenantId|isSystem)/.test(field))).toEqual([]);
  });

  it('say which of them only read', () => {
    const reading = [...listed.values()].filter(({ annotations }) => annotations?.readOnlyHint);
    expect(reading.map(({ name }) => name)).toEqual(offered.filter(({ kind }) => kind !== 'command').map(nameOf));
  });

  it('say which of them take away or replace', () => {
    const destroying = [...listed.values()].filter(({ annotations }) => annotations?.destructiveHint);
    expect(destroying.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'user_erase',
        'key_revoke',
        'thread_update',
        'thread_delete',
        'message_delete',
        'scratchpad_delete',
        'scratchpad_content_set',
        'scratchpad_content_clear',
        'scratchpad_entry_clear',
        'scratchpad_clear',
        'agent_enroll',
        'credential_delete',
        'update_scratchpad',
        'workspace_member_remove',
        'research_cancel',
      ]),
    );
    const names = destroying.map(({ name }) => name);
    for (const adding of [
      'thread_create',
      'message_append',
      'scratchpad_entry_append',
      'append_scratchpad',
      'key_create',
    ])
      expect(names).not.toContain(adding);
  });

  it('say which of them are the scratchpad, and show those nothing but what they are for', () => {
    const marked = [...listed.values()].filter(({ _meta }) => _meta?.['palimpsest/tool'] !== undefined);
    expect(
      marked.map(({ name, _meta, inputSchema }) => [name, _meta, Object.keys(inputSchema.properties ?? {})]),
    ).toEqual([
      ['read_scratchpad', { 'palimpsest/tool': { type: 'scratchpad' } }, []],
      ['update_scratchpad', { 'palimpsest/tool': { type: 'scratchpad' } }, ['content']],
      ['append_scratchpad', { 'palimpsest/tool': { type: 'scratchpad' } }, ['note']],
    ]);
  });
});

/** The part of a tool's output schema that the operation's own output stands for. */
function answerIn({ kind, output }: Operation, schema: Tool['outputSchema']): z.core.JSONSchema.JSONSchema {
  const whole = (schema ?? {}) as z.core.JSONSchema.JSONSchema; // JSON Schema, which the client's type leaves open
  const data = whole.properties?.['data'];
  if (kind === 'list') return (data as { items: z.core.JSONSchema.JSONSchema }).items;
  return output instanceof z.ZodObject ? whole : (data as z.core.JSONSchema.JSONSchema);
}

/** Where the API document has an operation's fields: in the path, the query or the body. Headers are said over MCP, too. */
async function fieldsInDocument({ http }: Operation): Promise<readonly string[]> {
  document ??= (await (await fetch(`${stack.url}/openapi.json`)).json()) as Document;
  const [method = '', path = ''] = http.split(' ');
  const found = document.paths[path]?.[method.toLowerCase()];
  const reference = found?.requestBody?.content['application/json'].schema.$ref.split('/').at(-1) ?? '';
  const body = Object.keys(document.components.schemas[reference]?.properties ?? {});
  const named = (found?.parameters ?? []).filter((one) => one.in === 'path' || one.in === 'query');
  return [...named.map(({ name }) => name ?? ''), ...body].filter((name) => !envelope.includes(name)).sort();
}
const envelope = ['idempotencyKey', 'correlationId'];
let document: Document | undefined;
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties?: object }>> };
}
interface Described {
  readonly parameters: readonly { readonly name?: string; readonly in?: string }[];
  readonly requestBody?: { readonly content: { 'application/json': { schema: { $ref: string } } } };
}

describe('an operation that answers without end', () => {
  it.each(operations.filter(isEndless).map(nameOf))('%s is no tool', async (name) => {
    const mcp = await mcpClient(stack.url, ada.key);
    await expect(mcp.call(name)).rejects.toThrow('There is no such tool.');
    await mcp.close();
  });
});

describe('a key that carries one scope', () => {
  // The administrator's: no tool is left out for its role.
  it.each(allScopes)('sees the tools of %s only, and is refused every other', async (scope) => {
    const made = await stack.admin.post('/v1/keys', { name: scope, scopes: [scope] });
    const { key } = made.data as { key: string }; // as key.create declares
    const allowed = offered.filter((operation) => operation.scope === scope).map(nameOf);
    expect(await namesFor(key)).toEqual(allowed);
    for (const operation of offered.filter((one) => one.scope !== scope)) {
      const answer = await rpc(stack.url, key, call(nameOf(operation)));
      expect([operation.name, answer.text.includes('"code":"authorization_refused"')]).toEqual([operation.name, true]);
    }
  });
});
const call = (name: string, args: object = {}) => ({ method: 'tools/call', params: { name, arguments: args } });

describe('a key of a member', () => {
  it('does not see what only administrators may do', async () => {
    const names = await namesFor(ada.key);
    const reserved = offered.filter(({ roles }) => roles && !roles.includes('member')).map(nameOf);
    expect(reserved.length).toBeGreaterThan(0);
    expect(names.filter((name) => reserved.includes(name))).toEqual([]);
  });
});

describe('a key bound to a scratchpad', () => {
  const reads = ['scratchpad_get', 'scratchpad_content_get', 'scratchpad_entry_list', 'scratchpad_view'];

  it('sees only what names a scratchpad, and as a worker nothing of the supervisor', async () => {
    const names = await namesFor(await keyWith({ scratchpadId: await newPad(), padRole: 'worker' }));
    expect(names).toEqual(expect.arrayContaining([...reads, 'read_scratchpad', 'append_scratchpad']));
    for (const other of ['thread_list', 'key_list', 'me_get', 'scratchpad_list', 'scratchpad_create'])
      expect(names).not.toContain(other);
    for (const others of ['update_scratchpad', 'scratchpad_content_set', 'scratchpad_clear', 'scratchpad_entry_clear'])
      expect(names).not.toContain(others);
  });
  it('sees the tools of the supervisor as one', async () => {
    const names = await namesFor(await keyWith({ scratchpadId: await newPad(), padRole: 'supervisor' }));
    expect(names).toEqual(expect.arrayContaining([...reads, 'update_scratchpad', 'scratchpad_content_set']));
    expect(names).not.toContain('thread_list');
  });
  it('is refused whatever it does not see', async () => {
    const scratchpadId = await newPad();
    const key = await keyWith({ scratchpadId, padRole: 'worker' });
    const names = await namesFor(key);
    const unseen = offered.filter(
      (operation) => 'scratchpadId' in operation.input.shape && !names.includes(nameOf(operation)),
    );
    expect(unseen.length).toBeGreaterThan(0);
    for (const operation of unseen) {
      const given = { scratchpadId, content: 'text', metadata: {}, name: 'key' };
      const fields = Object.fromEntries(Object.entries(given).filter(([field]) => field in operation.input.shape));
      const answer = await rpc(stack.url, key, call(nameOf(operation), fields));
      expect([operation.name, answer.text.includes('"code":"authorization_refused"')]).toEqual([operation.name, true]);
    }
  });
});

describe('what a call answers', () => {
  it.each(['modern', 'legacy'] as const)('is the data, as an object and as a text, to a %s client', async (era) => {
    const mcp = await mcpClient(stack.url, ada.key, { era });
    await mcp.client.listTools();
    const made = await mcp.call('thread_create', { title: 'Plan' });
    expect(made.data).toMatchObject({ title: 'Plan', ownerId: ada.userId });
    expect(JSON.parse(made.text)).toEqual(made.data);
    expect(made.meta).toMatchObject({
      'palimpsest/position': expect.stringMatching(/^\d+$/) as string,
      'palimpsest/correlationId': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    await mcp.close();
  });
  it('pages a list', async () => {
    const reader = await stack.user('Reader');
    for (const title of ['one', 'two', 'three']) await reader.post('/v1/threads', { title });
    const mcp = await mcpClient(stack.url, reader.key);
    await mcp.client.listTools();
    const titles: string[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await mcp.call('thread_list', { limit: 2, order: 'asc', ...(cursor && { cursor }) });
      const page = data as { data: { title: string }[]; page: { nextCursor: string | null } }; // as lists answer
      titles.push(...page.data.map(({ title }) => title));
      cursor = page.page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(titles).toEqual(['one', 'two', 'three']);
    await mcp.close();
  });
  it('is a refusal with the error object, which is no failure of the protocol', async () => {
    const mcp = await mcpClient(stack.url, ada.key);
    const refused = await mcp.call('thread_update', { threadId: 'thread_x', colour: 'red' });
    const { body } = await ada.patch('/v1/threads/thread_x', { colour: 'red' });
    expect(refused.data).toEqual({ error: body['error'] });
    expect([refused.isError, JSON.parse(refused.text)]).toEqual([true, { error: body['error'] }]);
    await mcp.close();
  });
  it('is replayed under the same idempotency key, as a field or beside the arguments', async () => {
    const mcp = await mcpClient(stack.url, ada.key);
    const idempotencyKey = '7e8c3c0e-9d4b-4d2a-8f61-3b8f0c4f1a11';
    const first = await mcp.call('thread_create', { title: 'once', idempotencyKey });
    const again = await mcp.call('thread_create', { title: 'once' }, { 'palimpsest/idempotencyKey': idempotencyKey });
    const other = await mcp.call('thread_create', { title: 'twice', idempotencyKey });
    expect([again.data, again.meta['palimpsest/replayed'], other.code]).toEqual([first.data, true, 'conflict']);
    await mcp.close();
  });
  it('depends on the revision that is named beside the arguments', async () => {
    const mcp = await mcpClient(stack.url, ada.key);
    const scratchpadId = await newPad();
    const set = (content: string, ifMatch: string) =>
      mcp.call('scratchpad_content_set', { scratchpadId, content }, { 'palimpsest/ifMatch': ifMatch });
    const first = await set('one', '"r0"');
    expect(first.meta['palimpsest/etag']).toBe('"r1"');
    expect([(await set('two', '"r0"')).code, (await set('two', '"r1"')).code]).toEqual(['conflict', undefined]);
    await mcp.close();
  });
  it('waits for a position, and says when it is not reached', async () => {
    const mcp = await mcpClient(stack.url, ada.key, { headers: { 'palimpsest-min-position': '9223372036854775807' } });
    const late = await mcp.call('thread_list');
    expect([late.code, late.meta['palimpsest/retryAfterSeconds']]).toEqual(['unavailable', 1]);
    const made = await mcp.call('thread_create', {});
    const { [`palimpsest/position`]: position } = made.meta;
    const found = await mcp.call('thread_list', { limit: 1 }, { 'palimpsest/minPosition': position });
    expect(found.data).toMatchObject({ data: [made.data] });
    await mcp.close();
  });
  it('carries the correlation id that was sent, in the answer and in the events', async () => {
    const correlationId = '5b1c2f9e-0a57-4b7e-9d0a-2f8f4f6b7c10';
    const mcp = await mcpClient(stack.url, ada.key, { headers: { 'x-correlation-id': correlationId } });
    const made = await mcp.call('thread_create', {});
    expect(made.meta['palimpsest/correlationId']).toBe(correlationId);
    const { data } = await ada.get(`/v1/audit/events?correlationId=${correlationId}`, {
      'palimpsest-min-position': String(made.meta['palimpsest/position']),
    });
    expect((data as { type: string }[]).map(({ type }) => type)).toEqual(['thread.created']);
    await mcp.close();
  });
  it('is a text of bounded length, whose ends are kept, beside the whole', async () => {
    const scratchpadId = await newPad();
    await ada.put(`/v1/scratchpads/${scratchpadId}/content`, { content: `the plan ${'x'.repeat(200_000)}` });
    await ada.post(`/v1/scratchpads/${scratchpadId}/entries`, { content: 'the last word' });
    const mcp = await mcpClient(stack.url, ada.key, { headers: { 'palimpsest-scratchpad': scratchpadId } });
    const { text, data } = await mcp.call('read_scratchpad');
    expect(text.length).toBeLessThan(100_200);
    expect([text.includes('the plan'), text.includes('left out here'), text.endsWith('the last word')]).toEqual([
      true,
      true,
      true,
    ]);
    expect((data as { text: string }).text.length).toBeGreaterThan(200_000);
    await mcp.close();
  });
});

describe('100 clients at once', () => {
  it('are each answered their own, and nothing of another', async () => {
    const members = await Promise.all(Array.from({ length: 20 }, (_, n) => stack.user(`Member ${n}`)));
    const mixed = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const member = members[n % members.length] ?? ada;
        const mark = `mark-${n}-of-${member.userId}`;
        const mcp = await mcpClient(stack.url, member.key, { era: n % 2 === 0 ? 'modern' : 'legacy' });
        const made = await Promise.all(
          Array.from({ length: 2 }, (__, m) => mcp.call('thread_create', { title: `${mark}:${m}` })),
        );
        const found = await Promise.all(
          made.map(({ data }) => mcp.call('thread_get', { threadId: (data as { id: string }).id })),
        );
        await mcp.close();
        const titles = [...made, ...found].map(({ data }) => (data as { title: string }).title);
        const expected = Array.from({ length: 4 }, (__, m) => `${mark}:${m % 2}`);
        return titles.join() === expected.join() && mcp.bodies.join('').includes(mark) ? [] : [{ expected, titles }];
      }),
    );
    expect(mixed.flat()).toEqual([]);
  });
});

describe('the names of tools', () => {
  const [first] = operations;
  if (!first) throw new Error('There are no operations.');

  it('are refused at start when two would be the same', () =>
    expect(() =>
      toolsOf([
        { ...first, name: 'a.b_c' },
        { ...first, name: 'a_b.c' },
      ]),
    ).toThrow('have the same name'));
  it.each(['a b', 'a'.repeat(65), 'ä', ''])('are refused at start when they cannot be typed: "%s"', (name) =>
    expect(() => toolsOf([{ ...first, name }])).toThrow('no name that a tool can have'),
  );
});
