import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '../../projections/kit/sql.js';
import { agentIdOf } from '../../src/application/enrollment/fence.js';
import type { Gateway } from '../../src/application/gateway/request.js';
import { enrollAgent } from '../../src/application/operations/agent/enroll-agent.js';
import { isRefusal } from '../../src/domain/kernel/refusal.js';
import { reapStaged } from '../../src/application/enrollment/reaper.js';
import { usableCredentials } from '../../src/application/enrollment/staged-versions.js';
import type { EventSourcing } from '../../src/application/event-sourcing/append.js';
import { makeContainer } from '../../src/composition/container.js';
import type { CredentialVault } from '../../src/application/ports/credential-vault.js';
import type { Module } from '../../src/composition/bind.js';
import { readConfig } from '../../src/infrastructure/config.js';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { makeMetrics } from '../../src/infrastructure/metrics.js';
import { makePostgresVault } from '../../src/infrastructure/vault/postgres-vault.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { openDatabase, type Database } from '../../src/infrastructure/postgres/database.js';
import { envOf } from '../support/program-env.js';
import { restClient, type RestClient, type RestReply } from '../support/rest-client.js';
import { rootKeyOf } from '../support/root-key.js';
import { startStack, type Member, type Stack } from '../support/stack.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { Program } from './rig/program.js';
import { T, type Backends } from '../../src/composition/tokens.js';

let stack: Stack;
let eventSourcing: EventSourcing;
let vault: CredentialVault;
let database: Database;
let folder: string;
let closeSystem: () => Promise<void>;
beforeAll(async () => {
  stack = await startStack();
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-enrollment-'));
  const { databaseUrl: url, keks } = stack.backends;
  const log = makeLogger({ level: 'silent' });
  const wired = makeContainer(readConfig({ PALIMPSEST_HOME: folder, LOG_LEVEL: 'silent' }), stack.backends, log);
  [eventSourcing, vault] = [await wired.get(T.eventSourcing), await wired.get(T.vault)];
  closeSystem = () => wired.close();
  database = openDatabase({ url, kek: await rootKeyOf(url, keks), log });
});
afterAll(async () => {
  await database.close();
  await closeSystem();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

const request = (more: Readonly<Record<string, unknown>> = {}) => ({
  harness: 'native',
  name: 'Researcher',
  persona: null,
  model: 'anthropic/m',
  provider: 'anthropic',
  credential: { mode: 'intake', type: 'api_key', value: 'sk-1' },
  idempotencyKey: randomUUID(),
  ...more,
});
type Request = ReturnType<typeof request>;
const intakeOf = (value: string) => ({ mode: 'intake', type: 'api_key', value });
const enroll = (client: Pick<RestClient, 'post'>, body: unknown) => client.post('/v1/agents/enroll', body);
/** Undefined when no answer came. */
const enrollOrNothing = (client: RestClient, body: unknown): Promise<RestReply | undefined> =>
  enroll(client, body).catch(() => undefined);
const agentIdIn = (reply: RestReply): string => (reply.data as { agent: { id: string } }).agent.id; // as declared

const eventsOf = async (ownerId: string) =>
  (await eventSourcing.eventStore.readAll(undefined, 1_000_000)).filter(
    ({ type, metadata }) => type.startsWith('agent.') && metadata['ownerId'] === ownerId,
  );
const typesOf = async (ownerId: string) => (await eventsOf(ownerId)).map(({ type }) => type);

const sealedOf = async (ownerId: string): Promise<Readonly<Record<string, number>>> => {
  const [outcome] = await database.system.run(sql`
    select status, count(*)::int as count from palimpsest.credential_versions where owner_id = ${ownerId} group by status`);
  return Object.fromEntries((outcome?.rows ?? []).map(({ status, count }) => [String(status), Number(count)]));
};
/** What the owner's agents get. */
const keyInUse = async (ownerId: string) =>
  (await usableCredentials(eventSourcing.store, vault).open(ownerId, 'anthropic'))?.reveal();

/** A process of the product on these backends, reached through its port. */
async function apiProcess(more: Readonly<Record<string, string>> = {}, backends: Backends = stack.backends) {
  const port = await freePort();
  const env = { ...envOf(backends), PORT: String(port), PALIMPSEST_HOME: folder, LOG_LEVEL: 'warn' };
  const program = new Program('api', env, join(folder, 'processes.log'));
  await program.start(more);
  return { program, url: `http://127.0.0.1:${port}` };
}

describe('W6 atomicity: a process that dies', () => {
  const beforeTheCommit = [
    'before:credentialVault.stage',
    'after:credentialVault.stage',
    'before:eventStore.append(agent.enrolled)',
  ];
  // What comes after it is the worker's, who dies there in worker-crashes.test.ts.
  const afterTheCommit = ['after:eventStore.append(agent.enrolled)'];

  async function crash(point: string, member: Member, body: Request): Promise<void> {
    const { program, url } = await apiProcess({ PALIMPSEST_CRASH_AT: point });
    const ended = program.ended();
    expect(await enrollOrNothing(restClient(url, member.key), body)).toBeUndefined();
    expect(await ended).toBe('SIGKILL');
  }

  it.each(beforeTheCommit)('at %s leaves nothing that anyone sees; its retry runs afresh', async (point) => {
    const member = await stack.user('Ada');
    const body = request();
    await crash(point, member, body);
    expect(await typesOf(member.userId)).toEqual([]);
    expect((await member.get('/v1/agents')).data).toEqual([]);
    expect((await member.get('/v1/credentials')).data).toEqual([]);
    expect((await enroll(member, request({ credential: { mode: 'reference' } }))).code).toBe('precondition_failed');
    const retried = await enroll(member, { ...body, credential: intakeOf('sk-2') });
    expect([retried.status, retried.body['replayed']]).toEqual([201, undefined]);
    expect(await keyInUse(member.userId)).toBe('sk-2');
    await reapStaged({ eventSourcing, vault }, 0);
    expect(await sealedOf(member.userId)).toEqual({ active: 1 });
    expect(await typesOf(member.userId)).toEqual(['agent.enrolled']);
  });

  it.each(beforeTheCommit)('at %s and is reaped leaves its key for the next attempt', async (point) => {
    const member = await stack.user('Ada');
    const body = request();
    await crash(point, member, body);
    await reapStaged({ eventSourcing, vault }, 0);
    expect(await sealedOf(member.userId)).toEqual({});
    const wasStaged = point !== 'before:credentialVault.stage';
    expect(await typesOf(member.userId)).toEqual(wasStaged ? ['agent.enrollment_abandoned'] : []);
    const retried = await enroll(member, body);
    expect(agentIdIn(retried)).toBe(agentIdOf(body.idempotencyKey, wasStaged ? 1 : 0));
    expect((await enroll(member, body)).body).toMatchObject({ replayed: true });
    expect(await keyInUse(member.userId)).toBe('sk-1');
  });

  it.each(afterTheCommit)('at %s has enrolled: its retry is a replay, and the key is in use', async (point) => {
    const member = await stack.user('Ada');
    const body = request();
    await crash(point, member, body);
    const retried = await enroll(member, { ...body, credential: intakeOf('sk-2') });
    expect(retried.body).toMatchObject({ replayed: true });
    await until(async () => ((await keyInUse(member.userId)) === 'sk-1' ? true : undefined));
    await reapStaged({ eventSourcing, vault }, 0);
    expect(await sealedOf(member.userId)).toEqual({ active: 1 });
    expect((await typesOf(member.userId)).filter((type) => type === 'agent.enrolled')).toEqual(['agent.enrolled']);
    expect((await enroll(member, request({ credential: { mode: 'reference' } }))).status).toBe(201);
  });
});

describe('W6 atomicity: a process that dies while it gives way to another submission', () => {
  it.each(['before:credentialVault.discard', 'after:credentialVault.discard'])(
    'at %s leaves what the other did',
    async (point) => {
      const member = await stack.user('Ada');
      await enroll(member, request());
      const body = request({ credential: intakeOf('sk-2') });
      const { program, url } = await apiProcess({ PALIMPSEST_CRASH_AT: point });
      const ended = program.ended();
      // It has seen that nobody was first, and cannot seal before somebody is.
      const holder = await database.connect();
      await holder.query('begin; lock table palimpsest.sealed_credentials in share mode');
      const dying = enrollOrNothing(restClient(url, member.key), body);
      await until(async () => {
        const { rowCount } = await holder.query(
          "select from pg_locks where relation = 'palimpsest.sealed_credentials'::regclass and not granted",
        );
        return rowCount === 0 ? undefined : true;
      });
      const theirs = { ...body, credential: { mode: 'reference' } };
      const first = await enroll(member, theirs);
      await holder.query('commit');
      await holder.end();
      expect([first.status, await dying, await ended]).toEqual([201, undefined, 'SIGKILL']);

      expect((await enroll(member, body)).code).toBe('conflict');
      const again = await enroll(member, theirs);
      expect([again.body['replayed'], agentIdIn(again)]).toEqual([true, agentIdIn(first)]);
      expect(await keyInUse(member.userId)).toBe('sk-1');
      await reapStaged({ eventSourcing, vault }, 0);
      expect(await sealedOf(member.userId)).toEqual({ active: 1 });
      expect((await typesOf(member.userId)).filter((type) => type === 'agent.enrolled').length).toBe(2);
    },
  );
});

describe('W6 atomicity and W11 fail-closed: a backend that fails', () => {
  let proxies: Readonly<Record<'eventstore' | 'postgres', TcpProxy>>;
  let through: { readonly program: Program; readonly url: string };
  beforeAll(async () => {
    const { eventstoreUrl, databaseUrl } = stack.backends;
    proxies = {
      eventstore: await startTcpProxy(addressOf(eventstoreUrl)),
      postgres: await startTcpProxy(addressOf(databaseUrl)),
    };
    const backends = {
      ...stack.backends,
      eventstoreUrl: via(proxies.eventstore, eventstoreUrl),
      databaseUrl: via(proxies.postgres, databaseUrl),
    };
    through = await apiProcess({}, backends);
  });
  afterAll(async () => {
    await through.program.kill();
    for (const proxy of Object.values(proxies)) await proxy.close();
  });

  const faults: readonly (readonly [string, (proxy: TcpProxy) => void])[] = [
    ['refuses connections', (proxy) => proxy.refuse()],
    ['swallows what is sent', (proxy) => proxy.blackHole()],
    ['loses its answer', (proxy) => proxy.loseNextReply()],
    ['breaks off in the middle of one', (proxy) => proxy.cutAfter(20)],
  ];
  const cases = (['eventstore', 'postgres'] as const).flatMap((backend) =>
    faults.map(([name, fail]) => [backend, name, fail] as const),
  );

  it.each(cases)(
    '%s that %s: enrolled or refused, never both, and its retry makes one agent',
    async (backend, _, fail) => {
      const member = await stack.user('Ada');
      const client = restClient(through.url, member.key);
      await until(async () => ((await client.get('/v1/me').catch(() => undefined))?.status === 200 ? true : undefined));
      const body = request();
      fail(proxies[backend]);
      const reply = await enroll(client, body);
      expect(['internal_fault', undefined]).toContain(reply.code);
      const committed = await typesOf(member.userId);
      if (reply.status === 201) expect(committed).toContain('agent.enrolled');
      proxies[backend].pass();
      const retried = await until(async () => {
        const again = await enroll(client, body);
        return again.status === 201 ? again : undefined;
      });
      expect((await typesOf(member.userId)).filter((type) => type === 'agent.enrolled').length).toBe(1);
      if (reply.status === 201) expect(agentIdIn(retried)).toBe(agentIdIn(reply));
      await until(async () => ((await keyInUse(member.userId)) === 'sk-1' ? true : undefined));
      await reapStaged({ eventSourcing, vault }, 0);
      expect(await sealedOf(member.userId)).toEqual({ active: 1 });
    },
  );

  it.each(['eventstore', 'postgres'] as const)('no %s: no answer is made of anything else', async (backend) => {
    const member = await stack.user('Ada');
    const client = restClient(through.url, member.key);
    const made = await until(async () => {
      const reply = await enroll(client, request());
      return reply.status === 201 ? reply : undefined;
    });
    const before = await typesOf(member.userId);
    proxies[backend].refuse();
    const replies = [
      await enroll(client, request()),
      await enroll(client, request({ credential: { mode: 'reference' } })),
      ...(backend === 'postgres' ? [await client.get(`/v1/agents/${agentIdIn(made)}/enrollment`)] : []),
    ];
    proxies[backend].pass();
    for (const { code } of replies) expect(['internal_fault', 'authorization_refused']).toContain(code);
    expect(await typesOf(member.userId)).toEqual(before);
  });
});

describe('W6 atomicity: a backend that goes away between two steps', () => {
  const steps = [
    ['vault', 'stage'],
    ['log', 'append'],
  ] as const;
  const cases = (['eventstore', 'postgres'] as const).flatMap((backend) =>
    steps.flatMap(([port, step]) => (['before', 'after'] as const).map((when) => [backend, when, port, step] as const)),
  );
  let proxies: Readonly<Record<'eventstore' | 'postgres', TcpProxy>>;
  let wired: ReturnType<typeof makeContainer>;
  let gateway: Gateway;
  /** What happens at a step; nothing, most of the time. */
  let atStep: (port: string, step: string, when: 'before' | 'after') => void = () => undefined;

  beforeAll(async () => {
    const { eventstoreUrl, databaseUrl } = stack.backends;
    proxies = {
      eventstore: await startTcpProxy(addressOf(eventstoreUrl)),
      postgres: await startTcpProxy(addressOf(databaseUrl)),
    };
    const backends = {
      ...stack.backends,
      eventstoreUrl: via(proxies.eventstore, eventstoreUrl),
      databaseUrl: via(proxies.postgres, databaseUrl),
    };
    const stepped: Module = (bind, closing) => {
      bind(T.vault, [T.database, T.kms], ({ system }, kms) => stepping('vault', makePostgresVault(system, kms)));
      bind(T.eventStore, [T.backends, T.logger], ({ eventstoreUrl: url }, log) =>
        stepping('log', closing(openEventStore(url, log))),
      );
    };
    const logger = makeLogger({ level: 'silent' });
    wired = makeContainer(readConfig({ PALIMPSEST_HOME: folder }), backends, logger, makeMetrics(), [stepped]);
    gateway = await wired.get(T.gateway);
  });
  afterAll(async () => {
    await wired.close();
    for (const proxy of Object.values(proxies)) await proxy.close();
  });

  const stepping = <Port extends object>(name: string, port: Port): Port =>
    new Proxy(port, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function' || typeof key === 'symbol') return member;
        return async (...args: readonly unknown[]) => {
          atStep(name, key, 'before');
          const outcome: unknown = await Reflect.apply(member, target, args);
          atStep(name, key, 'after');
          return outcome;
        };
      },
    });

  const noted = ['agent.enrolled', 'agent.enrollment_replayed'];

  /** Authenticated before, so that the step is the first to meet the fault. */
  const submitterOf = async ({ key }: Member) => {
    const submit = async (input: unknown) =>
      (await gateway({ operation: enrollAgent, input, principal: { bearer: key }, door: 'rest', respondAsync: true }))
        .result;
    await until(async () => (isRefusal(await submit(request({ harness: 'unheard-of' }))) ? true : undefined));
    return submit;
  };

  it.each(cases)('%s goes away %s %s.%s: enrolled or refused, and its retry makes one agent', async (...at) => {
    const [backend, when, port, step] = at;
    const member = await stack.user('Ada');
    const submit = await submitterOf(member);
    const body = request();
    atStep = (...now) => {
      if (now.join() === [port, step, when].join()) proxies[backend].refuse();
    };
    const result = await submit(body);
    atStep = () => undefined;
    const committed = (await typesOf(member.userId)).filter((type) => type === 'agent.enrolled').length;
    if (isRefusal(result)) expect(result.refused).toBe('internal_fault');
    else expect(committed).toBe(1);
    proxies[backend].pass();
    const retried = await until(async () => {
      const again = await submit(body);
      return isRefusal(again) ? undefined : again;
    });
    expect(retried).toMatchObject(committed === 1 ? { replayed: true } : { data: { result: 'enrolled' } });
    await until(async () => ((await keyInUse(member.userId)) === 'sk-1' ? true : undefined));
    await reapStaged({ eventSourcing, vault }, 0);
    expect(await sealedOf(member.userId)).toEqual({ active: 1 });
    expect((await typesOf(member.userId)).filter((type) => type === 'agent.enrolled').length).toBe(1);
  });

  it.each(
    (['eventstore', 'postgres'] as const).flatMap((backend) =>
      (['before', 'after'] as const).map((when) => [backend, when] as const),
    ),
  )('%s goes away %s a replay is noted: it is answered only where it was', async (backend, when) => {
    const member = await stack.user('Ada');
    const submit = await submitterOf(member);
    const body = request();
    expect(isRefusal(await submit(body))).toBe(false);
    atStep = (...now) => {
      if (now.join() === ['log', 'append', when].join()) proxies[backend].refuse();
    };
    const result = await submit(body);
    atStep = () => undefined;
    proxies[backend].pass();
    if (isRefusal(result)) expect(result.refused).toBe('internal_fault');
    else expect([result.replayed, await typesOf(member.userId)]).toEqual([true, noted]);
    await until(async () => (isRefusal(await submit(body)) ? undefined : true));
    const types = await typesOf(member.userId);
    expect(types[0]).toBe('agent.enrolled');
    expect(new Set(types.slice(1))).toEqual(new Set(['agent.enrollment_replayed']));
    expect(await sealedOf(member.userId)).toEqual({ active: 1 });
  });
});

describe('crossing enrollments for one provider', () => {
  it('end with the key of the later event in use, whatever order they were activated in', async () => {
    for (let round = 0; round < 5; round += 1) {
      const member = await stack.user('Ada');
      const bodies = Array.from({ length: 8 }, (_, n) => request({ credential: intakeOf(`sk-${n}`) }));
      const replies = await Promise.all(bodies.map((body) => enroll(member, body)));
      expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(201));
      const last = (await eventsOf(member.userId)).filter(({ type }) => type === 'agent.enrolled').at(-1);
      const winner = replies.findIndex((reply) => agentIdIn(reply) === last?.data['agentId']);
      await until(async () => ((await keyInUse(member.userId)) === `sk-${winner}` ? true : undefined));
      await until(async () => ((await sealedOf(member.userId))['retired'] === 7 ? true : undefined));
    }
  });
});

describe('a user who is erased', () => {
  it.each(['after:eventStore.append(agent.enrolled)', 'after:credentialVault.stage'])(
    'while an enrollment died %s leaves no agent and no sealed byte',
    async (point) => {
      const member = await stack.user('Dora');
      const { program, url } = await apiProcess({ PALIMPSEST_CRASH_AT: point });
      const ended = program.ended();
      const dying = enrollOrNothing(restClient(url, member.key), request());
      await ended;
      await dying;
      expect((await member.delete(`/v1/users/${member.userId}`)).status).toBe(200);
      await until(async () => {
        await reapStaged({ eventSourcing, vault }, 0);
        const [types, sealed] = [await typesOf(member.userId), await sealedOf(member.userId)];
        const isRetired = !types.includes('agent.enrolled') || types.includes('agent.retired');
        return isRetired && Object.keys(sealed).length === 0 ? true : undefined;
      });
    },
  );
});

describe('a storm of submissions', () => {
  const keys = 200;
  const each = 50;

  it(`of ${keys} keys × ${each} through two processes that are killed enrolls ${keys} agents, without a five-hundred`, async () => {
    const [member, other] = [await stack.user('Ada'), await stack.user('Bob')];
    const first = await apiProcess();
    const second = await apiProcess();
    const processes = [first, second];
    const bodies = Array.from({ length: keys }, (_, n) =>
      request({ provider: `provider-${n % 10}`, name: `Agent ${n}` }),
    );
    const jobs = bodies.flatMap((body, n) =>
      Array.from({ length: each }, (_, copy) =>
        copy === 7
          ? { n, key: other.key, body, own: false }
          : copy === 8
            ? { n, key: member.key, body: { ...body, name: 'Another' }, own: false }
            : { n, key: member.key, body, own: true },
      ),
    );
    // Stepping through the copies in an order of no meaning, so that copies of a key meet in both processes.
    const order = jobs.map((_, place) => jobs[(place * 7919) % jobs.length]).filter((job) => job !== undefined);
    const seen: { readonly n: number; readonly own: boolean; readonly reply: RestReply }[] = [];
    let next = 0;
    let killing = true;
    const worker = async (turn: number) => {
      for (;;) {
        const job = order[next];
        next += 1;
        if (!job) return;
        const reply = await until(async () => {
          const { url } = processes[(turn += 1) % 2] ?? first;
          return enrollOrNothing(restClient(url, job.key), job.body);
        }, 60_000);
        seen.push({ n: job.n, own: job.own, reply });
      }
    };
    const killer = async () => {
      for (let kills = 0; killing && kills < 4; kills += 1) {
        const mark = Math.floor(((kills + 1) * order.length) / 6);
        await until(async () => (seen.length >= mark || !killing ? true : undefined), 120_000);
        const victim = processes[kills % 2];
        await victim?.program.kill();
        await victim?.program.start();
      }
    };
    const killed = killer();
    await Promise.all(Array.from({ length: 24 }, (_, turn) => worker(turn)));
    killing = false;
    await killed;
    for (const { program } of processes) await program.stop();

    expect(seen.length).toBe(keys * each);
    expect(seen.filter(({ reply }) => reply.status >= 500).map(({ reply }) => reply.text)).toEqual([]);
    const enrolled = (await eventsOf(member.userId)).filter(({ type }) => type === 'agent.enrolled');
    const answered = seen.filter(({ reply }) => reply.status === 201);
    const conflicts = seen.filter(({ reply }) => reply.status === 409);
    expect(answered.length + conflicts.length).toBe(seen.length);
    // Under a key whose first submission was another's, the others are conflicts; either way it is one agent.
    const theirs = (await eventsOf(other.userId)).filter(({ type }) => type === 'agent.enrolled');
    expect(enrolled.length + theirs.length).toBe(keys);
    for (let n = 0; n < keys; n += 1) {
      const ids = answered.filter((one) => one.n === n).map(({ reply }) => agentIdIn(reply));
      expect(new Set(ids).size).toBe(1);
    }
    const fresh = answered.filter(({ reply }) => reply.body['replayed'] !== true);
    expect(fresh.length).toBeLessThanOrEqual(keys);
    const correlationId = /"correlationId":"[^"]+"/;
    expect(new Set(conflicts.map(({ reply }) => reply.text.replace(correlationId, ''))).size).toBe(1);
    while ((await reapStaged({ eventSourcing, vault }, 0)) > 0);
    const [left] = await database.system.run(sql`
      select count(*)::int as count from palimpsest.credential_versions where status = 'staged'`);
    expect(left?.rows).toEqual([{ count: 0 }]);
  }, 600_000);
});

function addressOf(url: string): { host: string; port: number } {
  const { hostname: host, port } = new URL(url.replace(/^[a-z]+:/, 'http:'));
  return { host, port: Number(port) };
}

const via = (proxy: TcpProxy, url: string): string =>
  url.replace(/(127\.0\.0\.1|localhost):\d+/, `127.0.0.1:${proxy.port}`);
