import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '../../projections/kit/sql.js';
import { agentIdOf } from '../../src/application/enrollment/fence.js';
import { Command } from '../../src/application/event-sourcing/command.js';
import { OwnerFirstEvents } from '../../src/application/event-sourcing/first-event.js';
import { makeContainer } from '../../src/composition/container.js';
import type { Fence } from '../../src/domain/agent/events.js';
import { readConfig } from '../../src/infrastructure/config.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { Program } from '../faults/rig/program.js';
import { foundIn, makeCanary } from '../support/canary.js';
import { runCli } from '../support/cli.js';
import { dumpDatabase, dumpRedis, logStatements, postgresLog } from '../support/dumps.js';
import { freePort } from '../support/free-port.js';
import { envOf } from '../support/program-env.js';
import { restClient, type RestReply } from '../support/rest-client.js';
import { startStack, type Member, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';
import { T } from '../../src/composition/tokens.js';

let stack: Stack;
let ada: Member;
let bob: Member;
let folder: string;
beforeAll(async () => {
  stack = await startStack();
  [ada, bob] = [await stack.user('Ada'), await stack.user('Bob')];
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-witness-'));
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

const request = (more: Readonly<Record<string, unknown>> = {}) => ({
  harness: 'native',
  name: 'Researcher',
  persona: 'Reads.',
  model: 'anthropic/m',
  provider: 'anthropic',
  credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
  idempotencyKey: randomUUID(),
  ...more,
});
const intakeOf = (value: string) => ({ mode: 'intake', type: 'api_key', value });
const enroll = (client: Pick<Member, 'post'>, body: unknown) => client.post('/v1/agents/enroll', body);

interface Agent {
  readonly id: string;
  readonly enrolledAt: string;
}
const agentOf = (reply: RestReply): Agent => (reply.data as { agent: Agent }).agent; // as agent.enroll declares

interface AuditEvent {
  readonly type: string;
  readonly stream: string;
  readonly correlationId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly actor: { readonly id: string };
}
async function auditOf(client: Member, query: string): Promise<readonly AuditEvent[]> {
  const { data } = await client.get(`/v1/audit/events?order=asc&limit=100&${query}`);
  return data as AuditEvent[]; // as audit.list declares
}

/** How much of the family is stored, by kind: read models, sealed versions, events. */
async function countsOf(ownerId: string) {
  const dump = await dumpDatabase(stack.backends.databaseUrl);
  const rowsIn = (table: string) => (dump.get(table) ?? '').split('\n').filter((row) => row.includes(ownerId)).length;
  const log = openEventStore(stack.backends.eventstoreUrl, makeLogger({ level: 'silent' }));
  const events = (await log.readAll(undefined, 100_000)).filter(({ metadata }) => metadata['ownerId'] === ownerId);
  await log.close();
  const family = events.filter(({ type }) => /^(agent|credential)\./.test(type)).map(({ type }) => type);
  return {
    agents: rowsIn('read_models.agents'),
    credentials: rowsIn('read_models.credentials'),
    sealed: rowsIn('palimpsest.sealed_credentials'),
    events: family,
  };
}

describe('W1 never-echo', () => {
  it('a canary in 40 passing and failing enrollments over REST and CLI is found nowhere', async () => {
    const canary = makeCanary();
    await logStatements(stack.backends.databaseUrl);
    const port = await freePort();
    const logFile = join(folder, 'process.log');
    const env = { ...envOf(stack.backends), PORT: String(port), PALIMPSEST_HOME: folder, LOG_LEVEL: 'debug' };
    const server = new Program('api', env, logFile);
    await server.start();
    const url = `http://127.0.0.1:${port}`;
    const eve = await stack.user('Eve');
    const client = restClient(url, eve.key);
    const seen: string[] = [];
    const statuses: number[] = [];
    const keep = ({ status, text, headers }: RestReply) => {
      statuses.push(status);
      seen.push(text, JSON.stringify([...headers]));
    };
    const raw = async (init: RequestInit, path = '/v1/agents/enroll') => {
      const headers = { authorization: `Bearer ${eve.key}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}${path}`, { method: 'POST', headers, ...init });
      statuses.push(response.status);
      seen.push(await response.text(), JSON.stringify([...response.headers]));
    };
    const secret = intakeOf(canary);
    // Its beginning, in the characters that providers' keys are made of.
    const asKey = `sk-live-${canary.slice(0, 16)}`;
    const passing = Array.from({ length: 6 }, (_, n) => request({ provider: `provider-${n % 3}`, credential: secret }));
    for (const body of passing) keep(await enroll(client, body));
    for (const body of passing.slice(0, 3)) keep(await enroll(client, body));
    const failing: readonly Readonly<Record<string, unknown>>[] = [
      { harness: 'unheard-of' },
      { harness: canary },
      { harness: 'codex' },
      { name: '' },
      { name: 7 },
      { model: '' },
      { provider: canary },
      { replayMode: 'shared' },
      { replayMode: canary },
      { idempotencyKey: canary },
      { correlationId: canary },
      { isSystem: canary },
      { apiKey: canary },
      { [canary]: 'x' },
      { [asKey]: 'x' },
      { credential: { mode: 'intake', type: 'api_key', [asKey]: 'x' } },
      { credential: { ...secret, type: 'oauth' } },
      { credential: { ...secret, mode: 'reference' } },
      { credential: { ...secret, mode: canary } },
      { credential: { ...secret, value: `${canary}\n` } },
      { credential: { ...secret, value: [canary] } },
      { credential: { ...secret, value: { deeper: canary } } },
      { credential: canary },
      { idempotencyKey: passing[0]?.idempotencyKey, name: 'Another' },
    ];
    for (const more of failing) keep(await enroll(client, request({ credential: secret, ...more })));
    keep(await enroll(restClient(url, 'plm_wrong'), request({ credential: secret })));
    await raw({ body: `{"credential":{"value":"${canary}"` });
    await raw({ body: JSON.stringify(request({ credential: secret })), headers: { 'content-type': 'text/plain' } });
    await raw({ body: '{}' }, `/v1/agents/enroll?value=${encodeURIComponent(canary)}`);

    const cli = ['--harness', 'native', '--name', 'Scout', '--model', 'm', '--provider', 'anthropic', '--json'];
    const runs = [
      await runCli(['agent', 'enroll', ...cli, '--credential.mode', 'intake'], cliAs(url, eve.key, canary)),
      await runCli(['agent', 'enroll', ...cli, '--credential.mode', 'intake'], cliAs(url, 'plm_wrong', canary)),
      await runCli(
        ['agent', 'enroll', '--harness', 'no', ...cli.slice(2), '--credential.mode', 'intake'],
        cliAs(url, eve.key, canary),
      ),
      await runCli(['agent', 'enroll', ...cli, '--credential.mode', 'reference'], cliAs(url, eve.key, canary)),
      await runCli(['agent', 'enroll', '--input', '-'], cliAs(url, eve.key, JSON.stringify({ credential: secret }))),
      await runCli(['agent', 'enroll', '--input', '-'], cliAs(url, eve.key, `{"credential": "${canary}`)),
    ];
    for (const { stdout, stderr, commandLine } of runs) seen.push(stdout, stderr, commandLine);
    expect(statuses.length + runs.length).toBeGreaterThanOrEqual(40);
    expect(statuses.filter((status) => status === 201).length).toBe(9);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(runs.map(({ code }) => code)).toEqual([0, 3, 7, 0, 2, 2]);

    const commandLine = readFileSync(`/proc/${server.pid ?? ''}/cmdline`, 'utf8');
    const environment = readFileSync(`/proc/${server.pid ?? ''}/environ`, 'utf8');
    await until(async () => ((await countsOf(eve.userId)).agents === 8 ? true : undefined));
    await server.stop();
    const places = new Map<string, string>([
      ['replies, and what the command line printed', seen.join('\n')],
      ['the log of the process', readFileSync(logFile, 'utf8')],
      ['its arguments and environment', commandLine + environment],
      ['Redis and its queues', await dumpRedis(stack.redis)],
      ['the audit trail as its owner reads it', (await eve.get('/v1/audit/export')).text],
      ['the API as its owner reads it', (await eve.get('/v1/agents')).text + (await eve.get('/v1/credentials')).text],
      ...(await dumpDatabase(stack.backends.databaseUrl)),
    ]);
    const statements = await postgresLog(stack.backends.databaseUrl);
    if (statements !== undefined) {
      expect(statements).toContain('insert into palimpsest.sealed_credentials');
      places.set('the log of Postgres', statements);
    }
    expect(places.get('the log of the process')).toContain('agents/enroll');
    expect(places.get('palimpsest.sealed_credentials')).toContain(eve.userId);
    const hits = [...places].flatMap(([place, text]) => foundIn(text, canary).map((form) => `${form} in ${place}`));
    expect(hits).toEqual([]);
  });

  it('would find it in any of its forms', () => {
    const canary = makeCanary();
    const around = (text: string) => `..${text}..`;
    expect(foundIn(around(canary), canary)).toContain('raw');
    for (const lead of ['', 'a', 'ab']) {
      const base64 = Buffer.from(`${lead}${canary}tail`).toString('base64');
      expect(foundIn(base64, canary).some((form) => form.startsWith('base64'))).toBe(true);
    }
    expect(foundIn(Buffer.from(around(canary)).toString('hex'), canary)).toContain('hex');
    expect(foundIn(encodeURIComponent(around(canary)), canary)).toContain('URL-encoded');
  });
});

const cliAs = (url: string, key: string, stdin: string) => ({
  env: { PALIMPSEST_URL: url, PALIMPSEST_KEY: key },
  stdin,
});

describe('W2 sealed-store single-copy', () => {
  it('one sealed row holds the credential, and agents have no column for one', async () => {
    const carol = await stack.user('Carol');
    await enroll(carol, request());
    expect(await countsOf(carol.userId)).toMatchObject({ sealed: 1, credentials: 1 });
    const columns = await stackRows(sql`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'read_models' and table_name in ('agents', 'credentials')`);
    const names = columns.map(({ name }) => String(name));
    expect(names).toContain('agents.credential_mode');
    expect(names.filter((name) => /value|secret|cipher|sealed|key/.test(name))).toEqual([]);
  });

  it('the credential is listed with what it is for and who uses it, never with what it is', async () => {
    const carol = await stack.user('Carol');
    await enroll(carol, request());
    await enroll(carol, request({ credential: { mode: 'reference' } }));
    await enroll(carol, request({ credential: intakeOf('sk-2') }));
    const { data } = await carol.get('/v1/credentials');
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^cred_/) as string,
        provider: 'anthropic',
        mode: 'intake',
        type: 'api_key',
        usedBy: 3,
        createdAt: expect.any(String) as string,
        rotatedAt: expect.any(String) as string,
      },
    ]);
  });

  it('a rotation is an audit event, once', async () => {
    const carol = await stack.user('Carol');
    await enroll(carol, request());
    await enroll(carol, request({ credential: intakeOf('sk-2') }));
    const rotations = () => auditOf(carol, 'type=credential.rotated');
    await until(async () => ((await rotations()).length > 0 ? true : undefined));
    await enroll(carol, request({ credential: { mode: 'reference' } }));
    expect((await rotations()).map(({ data }) => data['provider'])).toEqual(['anthropic']);
  });

  it('a deleted credential is gone with all its versions, and can be taken in again', async () => {
    const carol = await stack.user('Carol');
    await enroll(carol, request());
    await enroll(carol, request({ credential: intakeOf('sk-2') }));
    const [credential] = (await carol.get('/v1/credentials')).data as { id: string }[];
    expect((await bob.delete(`/v1/credentials/${credential?.id ?? ''}`)).status).toBe(404);
    expect((await carol.delete(`/v1/credentials/${credential?.id ?? ''}`)).status).toBe(200);
    expect(await countsOf(carol.userId)).toMatchObject({ sealed: 0, credentials: 0, agents: 2 });
    expect((await enroll(carol, request({ credential: { mode: 'reference' } }))).status).toBe(422);
    expect((await enroll(carol, request({ credential: intakeOf('sk-3') }))).status).toBe(201);
    expect((await carol.get('/v1/credentials')).data).toMatchObject([{ id: credential?.id, rotatedAt: null }]);
  });
});

async function stackRows(query: ReturnType<typeof sql>) {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: stack.backends.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(query.text, [...query.values])).rows;
  } finally {
    await client.end();
  }
}

describe('W3 reference-resolution refusal', () => {
  it('a reference to nothing is precondition_failed, and no row is created', async () => {
    const carol = await stack.user('Carol');
    const reply = await enroll(carol, request({ credential: { mode: 'reference' } }));
    expect([reply.status, reply.code]).toEqual([422, 'precondition_failed']);
    expect(await countsOf(carol.userId)).toEqual({ agents: 0, credentials: 0, sealed: 0, events: [] });
  });

  it("a reference never resolves to another owner's credential, or to one for another provider", async () => {
    const carol = await stack.user('Carol');
    await enroll(ada, request());
    await enroll(carol, request({ provider: 'openai' }));
    expect((await enroll(carol, request({ credential: { mode: 'reference' } }))).status).toBe(422);
  });
});

describe('W4 harness refusals', () => {
  it('a malformed harness is validation_failed, an unknown one precondition_failed', async () => {
    const malformed = await enroll(ada, request({ harness: 'Not A Harness' }));
    const unknown = await enroll(ada, request({ harness: 'unheard-of' }));
    expect([malformed.status, malformed.code]).toEqual([400, 'validation_failed']);
    expect([unknown.status, unknown.code]).toEqual([422, 'precondition_failed']);
  });

  it('the registry is live: a harness that a team adds can be enrolled into at once', async () => {
    const file = join(folder, 'harnesses.json');
    writeFileSync(file, '[]');
    const port = await freePort();
    const env = { ...envOf(stack.backends), PORT: String(port), PALIMPSEST_HOME: folder, PALIMPSEST_HARNESSES: file };
    const server = new Program('api', env, join(folder, 'live.log'));
    await server.start();
    const client = restClient(`http://127.0.0.1:${port}`, ada.key);
    expect((await enroll(client, request({ harness: 'our-own' }))).status).toBe(422);
    writeFileSync(file, JSON.stringify([{ name: 'our-own', providers: ['anthropic'] }]));
    expect((await enroll(client, request({ harness: 'our-own' }))).status).toBe(201);
    expect((await enroll(client, request({ harness: 'our-own', provider: 'openai' }))).status).toBe(422);
    expect((await client.get('/v1/harnesses')).text).toContain('our-own');
    writeFileSync(file, '[{"name":');
    expect((await enroll(client, request())).code).toBe('internal_fault');
    await server.stop();
  });

  it('the built-in harnesses are listed with the providers that they take', async () => {
    const listed = (await ada.get('/v1/harnesses')).data as { name: string; providers: unknown }[];
    const names = listed.map(({ name }) => name);
    for (const name of ['native', 'offline', 'claude-code', 'codex', 'opencode']) expect(names).toContain(name);
    expect(listed.find(({ name }) => name === 'codex')?.providers).toContain('openai');
  });
});

/** Stores an enrollment like an agent's under another key, with another fence than this version would record. */
async function recordTwin(ownerId: string, agentId: string, key: string, other: Partial<Fence>): Promise<void> {
  const config = readConfig({ PALIMPSEST_HOME: folder, LOG_LEVEL: 'silent' });
  const { get, close } = makeContainer(config, stack.backends, makeLogger({ level: 'silent' }));
  try {
    const eventSourcing = await get(T.eventSourcing);
    const [event] = await eventSourcing.eventStore.readStream(`agent-${agentId}`);
    const twinId = agentIdOf(key, 0);
    const recorded = event?.data as { readonly fence: Fence }; // as agent.enrolled declares
    const fence = { ...recorded.fence, key, outcome: twinId, ...other };
    const data = { ...recorded, name: 'Researcher', persona: 'Reads.', agentId: twinId, fence };
    const who = { actor: { type: 'user' as const, id: ownerId }, author: { type: 'key' as const, id: '' } };
    const command = new Command({ ...who, correlationId: randomUUID(), clock: eventSourcing.clock });
    await new OwnerFirstEvents(eventSourcing, ownerId, command).appendFirst(`agent-${twinId}`, {
      type: 'agent.enrolled',
      data,
      id: randomUUID(),
    });
  } finally {
    await close();
  }
}

describe('W5 idempotency', () => {
  it('a replay answers the recorded outcome, executes nothing, and appends an access event', async () => {
    const carol = await stack.user('Carol');
    const body = request();
    const first = await enroll(carol, body);
    const again = await enroll(carol, { ...body, correlationId: randomUUID() });
    expect(again.data).toEqual(first.data);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await countsOf(carol.userId)).toEqual({
      agents: 1,
      credentials: 1,
      sealed: 1,
      events: ['agent.enrolled', 'agent.enrollment_replayed'],
    });
  });

  it('another payload, another actor and an administrator meet the one constant conflict', async () => {
    const body = request();
    await enroll(ada, body);
    const correlationId = randomUUID();
    const replies = [
      await enroll(ada, { ...body, name: 'Another', correlationId }),
      await enroll(bob, { ...body, correlationId }),
      await enroll(stack.admin, { ...body, correlationId }),
    ];
    expect(replies.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([409, 'conflict']));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });

  it.each<[string, Partial<Fence>]>([
    ['scope', { scope: 'user:another' }],
    ['replay mode', { replayMode: 'shared' }],
  ])('another %s in the fence meets the same conflict, and nothing more is stored', async (_, other) => {
    const carol = await stack.user('Carol');
    const [body, twin] = [request(), request()];
    const { id } = agentOf(await enroll(carol, body));
    await recordTwin(carol.userId, id, twin.idempotencyKey, other);
    const before = await countsOf(carol.userId);
    const correlationId = randomUUID();
    const replies = [await enroll(carol, { ...twin, correlationId }), await enroll(bob, { ...body, correlationId })];
    expect(replies.map(({ status, code }) => [status, code])).toEqual(Array(2).fill([409, 'conflict']));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect((await countsOf(carol.userId)).events).toEqual(before.events);
    // All else being equal it would have been a replay.
    const same = request();
    await recordTwin(carol.userId, id, same.idempotencyKey, {});
    expect((await enroll(carol, same)).body).toMatchObject({ replayed: true });
  });

  it('a submitter whose authorization was revoked since is refused, not replayed', async () => {
    const made = await ada.post('/v1/keys', { name: 'short-lived' });
    const { id, key } = made.data as { id: string; key: string }; // as key.create declares
    const client = stack.client(key);
    const body = request();
    expect((await enroll(client, body)).status).toBe(201);
    await ada.delete(`/v1/keys/${id}`);
    await until(async () => ((await client.get('/v1/me')).status === 401 ? true : undefined), 5_000);
    expect((await enroll(client, body)).code).toBe('authentication_failed');
    expect((await enroll(ada, body)).body).toMatchObject({ replayed: true });
  });

  it('a shared declaration is validation_failed, executes nothing and records no fence', async () => {
    const carol = await stack.user('Carol');
    const body = request({ replayMode: 'shared' });
    expect((await enroll(carol, body)).code).toBe('validation_failed');
    expect((await countsOf(carol.userId)).events).toEqual([]);
    expect((await enroll(carol, { ...body, replayMode: 'actor-bound' })).body).not.toHaveProperty('replayed');
  });

  it('fifty submissions at once through two processes are one mutation and 49 replays', async () => {
    const carol = await stack.user('Carol');
    const other = await stack.another('api');
    const clients = [carol, stack.client(carol.key, other.url)];
    const body = request();
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => enroll(clients[n % 2] ?? carol, body)));
    expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(new Set(replies.map((reply) => agentOf(reply).id)).size).toBe(1);
    expect(replies.filter(({ body: envelope }) => envelope['replayed'] === true).length).toBe(49);
    const { events, sealed } = await countsOf(carol.userId);
    expect(events.filter((type) => type === 'agent.enrolled').length).toBe(1);
    expect(sealed).toBe(1);
    await other.stop();
  });
});

describe('W7 zero mutations without a call', () => {
  it('a user who does everything else leaves no row and no event of the family', async () => {
    const carol = await stack.user('Carol');
    const { data } = await carol.post('/v1/threads', { title: 'Plan' });
    await carol.post('/v1/scratchpads', { threadId: (data as { id: string }).id });
    for (const path of ['/v1/agents', '/v1/credentials', '/v1/harnesses', `/v1/agents/${randomUUID()}/enrollment`]) {
      await carol.get(path);
    }
    expect(await countsOf(carol.userId)).toEqual({ agents: 0, credentials: 0, sealed: 0, events: [] });
  });
});

describe('W8 is_system injection', () => {
  it.each(['isSystem', 'is_system', 'ownerId', 'owner_id', 'status', 'enrolledAt'])('%s is refused', async (field) => {
    const reply = await enroll(ada, request({ [field]: true }));
    expect([reply.status, reply.code]).toEqual([400, 'validation_failed']);
  });
});

describe('W9 correlation', () => {
  it('the id that was sent is in the result, in the events, and in every refusal', async () => {
    const carol = await stack.user('Carol');
    const correlationId = randomUUID();
    const body = request({ correlationId });
    const made = await enroll(carol, body);
    expect(made.body).toMatchObject({ correlationId });
    const stream = `agent-${agentOf(made).id}`;
    const [event] = await until(async () => {
      const events = await auditOf(carol, `stream=${stream}`);
      return events.length > 0 ? events : undefined;
    });
    expect(event).toMatchObject({ type: 'agent.enrolled', correlationId, actor: { id: carol.userId } });
    const again = randomUUID();
    expect((await enroll(carol, { ...body, correlationId: again })).body).toMatchObject({ correlationId: again });
    const access = await until(async () => (await auditOf(carol, `stream=${stream}`))[1]);
    expect(access).toMatchObject({ type: 'agent.enrollment_replayed', correlationId: again });
    for (const [client, more, code] of [
      [carol, { name: '' }, 'validation_failed'],
      [stack.client('plm_wrong'), {}, 'authentication_failed'],
      [bob, { idempotencyKey: body.idempotencyKey }, 'conflict'],
      [carol, { harness: 'unheard-of' }, 'precondition_failed'],
    ] as const) {
      const reply = await enroll(client, request({ correlationId, ...more }));
      expect([reply.code, reply.body['correlationId']]).toEqual([code, correlationId]);
    }
    const found = await carol.get(`/v1/agents/${agentOf(made).id}/enrollment?correlationId=${correlationId}`);
    expect(found.body).toMatchObject({ correlationId, data: { result: 'found' } });
    const missing = await carol.get(`/v1/agents/${randomUUID()}/enrollment?correlationId=${correlationId}`);
    expect([missing.code, missing.body['correlationId']]).toEqual(['not_found', correlationId]);
  });

  it('an agent of another tenant, a random id and a malformed one are answered with the same bytes', async () => {
    const { id } = agentOf(await enroll(ada, request()));
    const headers = { 'x-correlation-id': randomUUID() };
    const replies = [];
    for (const asked of [id, randomUUID(), 'no-uuid', id.toUpperCase()]) {
      replies.push(await bob.get(`/v1/agents/${asked}/enrollment`, headers));
    }
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect((await stack.admin.get(`/v1/agents/${id}/enrollment`)).data).toMatchObject({ agent: { id } });
  });

  it('events of the family come from its decisions and from nowhere else', () => {
    const root = join(__dirname, '../../src');
    const emitters = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .filter((file) => /\{ type: '(agent|credential)\.\w+', data/.test(readFileSync(join(root, file), 'utf8')));
    expect(emitters.sort()).toEqual(['domain/agent/agent.ts', 'domain/credential/credential.ts']);
  });
});

describe('W10 CLI parity', () => {
  it('agent.enroll and agent.enrollment.get answer the command line what they answer the web', async () => {
    const env = { PALIMPSEST_URL: stack.url, PALIMPSEST_KEY: ada.key };
    const body = request();
    const web = await enroll(ada, body);
    const flags = ['--json', '--input', '-', '--correlation-id', randomUUID()];
    const cli = await runCli(['agent', 'enroll', ...flags], { env, stdin: JSON.stringify(body) });
    expect(cli.code).toBe(0);
    expect((JSON.parse(cli.stdout) as { data: unknown }).data).toEqual(web.data);
    const correlationId = randomUUID();
    const got = await runCli(
      ['agent', 'enrollment', 'get', '--agent-id', agentOf(web).id, '--correlation-id', correlationId, '--json'],
      { env },
    );
    const same = await ada.get(`/v1/agents/${agentOf(web).id}/enrollment`, { 'x-correlation-id': correlationId });
    expect([got.code, got.stdout]).toEqual([0, `${same.text}\n`]);
  });
});

describe('an erased owner', () => {
  it('leaves no agent, no credential and no sealed byte, and their history stays readable without them', async () => {
    const dora = await stack.user('Dora');
    const kept = await enroll(ada, request());
    const made = await enroll(dora, request({ name: 'Doras secretary', persona: 'Knows Dora.' }));
    expect((await dora.delete(`/v1/users/${dora.userId}`)).status).toBe(200);
    await until(async () => {
      const { agents, credentials, sealed } = await countsOf(dora.userId);
      return agents + credentials + sealed === 0 ? true : undefined;
    });
    expect((await stack.admin.get(`/v1/agents/${agentOf(made).id}/enrollment`)).status).toBe(404);
    const { data } = await stack.admin.get(`/v1/audit/events?tenant=${dora.userId}&type=agent.enrolled`);
    expect(data).toMatchObject([{ data: { harness: 'native', provider: 'anthropic' } }]);
    expect(JSON.stringify(data)).not.toContain('Dora');
    expect((await ada.get(`/v1/agents/${agentOf(kept).id}/enrollment`)).status).toBe(200);
  });
});
