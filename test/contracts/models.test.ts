import { inspect } from 'node:util';
import {
  CredentialMissing,
  ModelFailed,
  type Conversation,
  type ModelConfig,
} from '../../src/application/ports/models.js';
import { Secret } from '../../src/application/kernel/secret.js';
import type { Dialect } from '../../src/infrastructure/llm/endpoints.js';
import { parseEndpoints } from '../../src/infrastructure/llm/endpoints.js';
import { makeModels } from '../../src/infrastructure/llm/models.js';
import { modelServer, type ModelAnswer, type ModelRequest, type ModelServer } from '../support/model-server.js';

const credential = 'sk-canary-of-a-provider';
const vault = { has: async () => true, open: async () => new Secret(credential) };
const config: ModelConfig = { ownerId: 'user_1', harness: 'native', provider: 'acme', model: 'acme/large' };
const role = { role: 'worker', workers: 0 } as const;
const never = new AbortController().signal;

const note = {
  name: 'append_scratchpad',
  description: 'Append a note.',
  inputSchema: {
    type: 'object',
    properties: { note: { type: 'string' } },
    required: ['note'],
    additionalProperties: false,
  },
};
const conversation: Conversation = {
  system: 'Be careful.',
  messages: [
    { role: 'user', text: 'Why whales?' },
    { role: 'assistant', text: 'I note it.', calls: [{ id: 'c1', tool: note.name, input: { note: 'big' } }] },
    { role: 'tool', results: [{ id: 'c1', tool: note.name, text: '{"index":1}' }] },
  ],
  tools: [note],
};

const credentialIn = ({ headers }: ModelRequest) => headers['x-api-key'] ?? headers['authorization'];

let server: ModelServer;
let answer: (request: ModelRequest) => ModelAnswer;
beforeEach(async () => {
  server = await modelServer((request) => answer(request));
});
afterEach(() => server.close());

const dialects: readonly (readonly [Dialect, string, string])[] = [
  ['anthropic', '/v1/messages', credential],
  ['openai', '/v1/chat/completions', `Bearer ${credential}`],
];

describe.each(dialects)('a model of a provider that speaks as %s does', (dialect, path, sent) => {
  const open = () => makeModels(vault, { acme: { dialect, url: server.url } }).open(config, role);
  const complete = async (signal = never, asked = conversation) => (await open()).complete(asked, signal);

  it('says words', async () => {
    answer = () => ({ text: 'Because.', calls: [] });
    expect(await complete()).toEqual({ text: 'Because.', calls: [] });
  });

  it('uses tools, several at once', async () => {
    const calls = [1, 2].map((n) => ({ id: `t${n}`, tool: note.name, input: { note: `${n}` } }));
    answer = () => ({ text: 'Two.', calls });
    expect(await complete()).toEqual({ text: 'Two.', calls });
  });

  it('may name a tool that there is none of', async () => {
    answer = () => ({ text: '', calls: [{ id: 't1', tool: 'web_search', input: {} }] });
    expect((await complete()).calls).toMatchObject([{ id: 't1', tool: 'web_search' }]);
  });

  it('gets the whole conversation, its own name, and the credential where it belongs', async () => {
    answer = () => ({ text: 'Because.', calls: [] });
    await complete();
    const [request] = server.requests;
    expect(request).toMatchObject({ path, body: { model: 'large' }, turns: 1, tools: [note.name] });
    for (const word of ['Be careful.', 'Why whales?', 'I note it.', 'big', '{\\"index\\":1}']) {
      expect(request?.text).toContain(word);
    }
    expect(request && credentialIn(request)).toBe(sent);
    expect(request?.text).not.toContain(credential);
  });

  it('that refuses has failed, with its status and without a word of the request', async () => {
    answer = () => ({ status: 401 });
    const fault: unknown = await complete().catch((caught: unknown) => caught);
    expect(fault).toBeInstanceOf(ModelFailed);
    expect(fault).toMatchObject({ status: 401 });
    expect(inspect(fault, { depth: 10 })).not.toMatch(new RegExp(`${credential}|whales`));
    expect(server.requests).toHaveLength(1);
  });

  it('that redirects is not followed', async () => {
    const elsewhere = await modelServer(() => ({ text: 'Stolen.', calls: [] }));
    answer = () => ({ location: elsewhere.url });
    await expect(complete()).rejects.toBeInstanceOf(ModelFailed);
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('that does not answer is given up when the signal is aborted, with its reason', async () => {
    answer = () => 'silence';
    const ending = new AbortController();
    const asked = complete(ending.signal);
    const reason = new Error('the deadline');
    const ended = asked.catch((caught: unknown) => caught);
    const arrived = async () => {
      while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    };
    await arrived();
    ending.abort(reason);
    expect(await ended).toBe(reason);
  });

  it('gives back what a model wrote in place of an input, and goes on with it', async () => {
    answer = () => ({ text: '', calls: [{ id: 't1', tool: note.name, input: dialect === 'openai' ? '{bad' : 'bad' }] });
    const said = await complete();
    expect(said.calls).toMatchObject([{ id: 't1', tool: note.name }]);
    answer = () => ({ text: 'Again.', calls: [] });
    const [asked] = conversation.messages;
    const messages = [
      ...(asked ? [asked] : []),
      { role: 'assistant' as const, ...said },
      { role: 'tool' as const, results: [{ id: 't1', tool: note.name, text: 'error: note is required' }] },
    ];
    expect(await complete(never, { ...conversation, messages })).toEqual({ text: 'Again.', calls: [] });
  });
});

describe('the models of an installation', () => {
  const models = makeModels(vault, { acme: { dialect: 'openai', url: 'http://127.0.0.1:1' } });

  it('run agents of two harnesses, where their provider is known', async () => {
    expect(await models.unavailableReason(config)).toBeUndefined();
    expect(await models.unavailableReason({ ...config, harness: 'offline', provider: 'nobody' })).toBeUndefined();
    expect(await models.unavailableReason({ ...config, provider: 'nobody' })).toBe('provider_not_configured');
    expect(await models.unavailableReason({ ...config, harness: 'codex' })).toBe('harness_not_runnable');
  });

  it('need the credential of the owner', async () => {
    const without = makeModels({ has: async () => false, open: async () => undefined }, {});
    const known = { ...config, provider: 'anthropic' };
    expect(await without.unavailableReason(known)).toBe('credential_missing');
    await expect(without.open(known, role)).rejects.toBeInstanceOf(CredentialMissing);
  });

  it('include one that needs no model: it gives the same conversation the same turn', async () => {
    const model = await models.open({ ...config, harness: 'offline' }, { role: 'supervisor', workers: 2 });
    const asked = { ...conversation, messages: conversation.messages.slice(0, 1) };
    const said = await model.complete(asked, never);
    expect(said.calls.map(({ tool }) => tool)).toEqual(['update_scratchpad', 'delegate', 'delegate']);
    expect(await model.complete(asked, never)).toEqual(said);
  });
});

describe('addresses of providers', () => {
  it('are read with the dialect of each', () =>
    expect(
      parseEndpoints('anthropic=https://a.example/v1/,acme=https://b.example,own=anthropic+http://127.0.0.1:9/v1'),
    ).toEqual({
      anthropic: { dialect: 'anthropic', url: 'https://a.example/v1' },
      acme: { dialect: 'openai', url: 'https://b.example' },
      own: { dialect: 'anthropic', url: 'http://127.0.0.1:9/v1' },
    }));

  it.each([
    'acme',
    'acme=',
    'acme=b.example',
    'acme=http://b.example',
    'acme=ftp://b.example',
    'acme=https://user:word@b.example',
    'acme=https://b.example?key=1',
    '=https://b.example',
    'acme=https://b.example,',
  ])('are not read from %s', (text) => expect(parseEndpoints(text)).toBeUndefined());
});
