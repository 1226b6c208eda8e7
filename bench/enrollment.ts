import { createCipheriv, randomBytes, randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import { Pool } from 'pg';
import { startRestFloor } from './rest-floor.js';
import { figure, median } from './support/figures.js';
import { startProduct, type Product } from './support/product.js';

const writers = 16;
const readers = 64;
const seconds = 4;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Rounds until neither side gets any faster. */
const warming = 3;
const pairs = 500;

/**
 * What enrollment is measured against: one transaction with the five rows that a design without an event store needs
 * (agent, sealed credential, fence, audit event, outbox row), statement by statement, on as many connections.
 */
async function startTables(url: string) {
  const pool = new Pool({ connectionString: url, max: writers });
  const name = `bench_${randomBytes(4).toString('hex')}`;
  await pool.query(`
    create schema ${name};
    create table ${name}.agents (id uuid primary key, owner_id text not null, name text not null, harness text not null,
      provider text not null, model text not null, persona text, enrolled_at timestamptz not null default now());
    create index on ${name}.agents (owner_id);
    create table ${name}.provider_credentials (owner_id text, provider text, sealed bytea not null, primary key (owner_id, provider));
    create table ${name}.fence (operation text, key uuid, principal text not null, scope text not null, digest text not null,
      replay_mode text not null, agent_id uuid not null, created_at timestamptz not null default now(), primary key (operation, key));
    create table ${name}.audit_events (id uuid primary key, type text not null, actor text not null, agent_id uuid not null,
      correlation_id uuid not null, payload jsonb not null, created_at timestamptz not null default now());
    create index on ${name}.audit_events (agent_id, created_at);
    create table ${name}.outbox (id uuid primary key, event_id uuid not null, payload jsonb not null, created_at timestamptz not null default now());`);
  const key = randomBytes(32);

  const once = async (n: number): Promise<void> => {
    const client = await pool.connect();
    const [agentId, eventId, owner] = [randomUUID(), randomUUID(), `user_${n}`];
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const sealed = Buffer.concat([nonce, cipher.update('sk-live-0123456789'), cipher.final(), cipher.getAuthTag()]);
    const payload = JSON.stringify({ agentId, harness: 'native', provider: 'anthropic', name: 'Scout' });
    await client.query('begin');
    await client.query({
      name: 'agent',
      text: `insert into ${name}.agents (id, owner_id, name, harness, provider, model) values ($1, $2, $3, $4, $5, $6)`,
      values: [agentId, owner, 'Scout', 'native', 'anthropic', 'm'],
    });
    await client.query({
      name: 'credential',
      text: `insert into ${name}.provider_credentials values ($1, $2, $3)
        on conflict (owner_id, provider) do update set sealed = excluded.sealed`,
      values: [owner, 'anthropic', sealed],
    });
    await client.query({
      name: 'fence',
      text: `insert into ${name}.fence (operation, key, principal, scope, digest, replay_mode, agent_id) values ($1, $2, $3, $4, $5, $6, $7)`,
      values: ['agent.enroll', randomUUID(), owner, owner, key.toString('hex'), 'actor-bound', agentId],
    });
    await client.query({
      name: 'audit',
      text: `insert into ${name}.audit_events (id, type, actor, agent_id, correlation_id, payload) values ($1, $2, $3, $4, $5, $6)`,
      values: [eventId, 'agent.enrolled', owner, agentId, randomUUID(), payload],
    });
    await client.query({
      name: 'outbox',
      text: `insert into ${name}.outbox (id, event_id, payload) values ($1, $2, $3)`,
      values: [randomUUID(), eventId, payload],
    });
    await client.query('commit');
    client.release();
  };

  return {
    /** Transactions a second, each for one of a hundred owners. */
    async rate(): Promise<number> {
      let done = 0;
      const begun = performance.now();
      const end = begun + seconds * 1_000;
      const work = async (): Promise<void> => {
        while (performance.now() < end) await once((done += 1) % 100);
      };
      await Promise.all(Array.from({ length: writers }, work));
      return done / ((performance.now() - begun) / 1_000);
    },
    async stop() {
      await pool.query(`drop schema ${name} cascade`);
      await pool.end();
    },
  };
}

const enrollment = (n: number) =>
  JSON.stringify({
    harness: 'native',
    name: `Agent ${n}`,
    persona: null,
    model: 'anthropic/m',
    provider: `provider-${n % 100}`,
    credential: { mode: 'intake', type: 'api_key', value: 'sk-live-0123456789' },
    idempotencyKey: randomUUID(),
  });

async function enrollments({ url }: Product, key: string): Promise<number> {
  let n = 0;
  const result = await autocannon({
    url,
    connections: writers,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        path: '/v1/agents/enroll',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        setupRequest: (request) => ({ ...request, body: enrollment((n += 1)) }),
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

async function gets(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const result = await autocannon({ url, connections: readers, duration: seconds, headers });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

/** Milliseconds to each answer, asked in turn: another tenant's agent, and a uuid that names nothing. */
async function foreignAndMissing({ url }: Product, key: string, agentId: string) {
  const headers = { authorization: `Bearer ${key}` };
  const timed = async (id: string): Promise<number> => {
    const begun = performance.now();
    const response = await fetch(`${url}/v1/agents/${id}/enrollment`, { headers });
    await response.text();
    if (response.status !== 404) throw new Error(`answered ${response.status}`);
    return performance.now() - begun;
  };
  const times: { foreign: number[]; missing: number[] } = { foreign: [], missing: [] };
  for (let n = 0; n < 50 + pairs; n += 1) {
    const [foreign, missing] = [await timed(agentId), await timed(randomUUID())];
    if (n < 50) continue;
    times.foreign.push(foreign);
    times.missing.push(missing);
  }
  return { foreign: median(times.foreign), missing: median(times.missing) };
}

async function main(): Promise<void> {
  const product = await startProduct();
  const tables = await startTables(product.databaseUrl);
  const floor = await startRestFloor({ redis: product.redisUrl, postgres: product.databaseUrl });
  const call = async (key: string, path: string, body: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${product.url}${path}`, { method: 'POST', headers, body });
    return ((await response.json()) as { data: { key: { key: string }; agent: { id: string } } }).data; // as declared
  };
  try {
    const key = (await call(product.adminKey, '/v1/users', JSON.stringify({ name: 'Bench' }))).key.key;
    const other = (await call(product.adminKey, '/v1/users', JSON.stringify({ name: 'Other' }))).key.key;
    for (let round = 0; round < warming; round += 1) {
      await enrollments(product, key);
      await tables.rate();
    }
    const seen: { readonly enrolled: number; readonly transactions: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      seen.push({ transactions: await tables.rate(), enrolled: await enrollments(product, key) });
    }
    const transactions = median(seen.map((one) => one.transactions));
    const enrolled = median(seen.map((one) => one.enrolled));
    figure('one transaction of five rows, 16 connections', `${transactions.toFixed(0)}/s`);
    figure(
      'enroll with intake over REST, 16 connections',
      `${(enrolled / transactions).toFixed(2)} x (${enrolled.toFixed(0)}/s)`,
      '>= 0.35 x',
    );

    const { agent } = await call(key, '/v1/agents/enroll', enrollment(0));
    const getUrl = `${product.url}/v1/agents/${agent.id}/enrollment`;
    await gets(getUrl, key);
    await gets(floor.getUrl, floor.key);
    const read: { readonly bare: number; readonly found: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      read.push({ bare: await gets(floor.getUrl, floor.key), found: await gets(getUrl, key) });
    }
    const [bare, found] = [median(read.map((one) => one.bare)), median(read.map((one) => one.found))];
    figure('bare express + pg by primary key, 64 connections', `${bare.toFixed(0)}/s`);
    figure('read an enrollment', `${(found / bare).toFixed(2)} x (${found.toFixed(0)}/s)`, '>= 0.6 x');

    const { foreign, missing } = await foreignAndMissing(product, other, agent.id);
    figure(
      `foreign and missing agent, medians of ${pairs} pairs`,
      `${foreign.toFixed(3)} and ${missing.toFixed(3)} ms`,
      'within 1 ms',
    );
  } finally {
    await tables.stop();
    await floor.stop();
    await product.stop();
  }
}

void main();
