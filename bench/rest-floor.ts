/**
 * What REST is measured against: two bare express routes with nothing but the work that cannot be left out, in a process
 * of their own. An append is a cached key look-up, a strict zod body and one RPUSH; a read is one select by primary key.
 */
import { randomUUID } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { z } from 'zod';

export interface RestFloor {
  /** `POST` here with `{content}` and the key as bearer. */
  readonly appendUrl: string;
  /** `GET` here with the key as bearer. */
  readonly getUrl: string;
  readonly key: string;
  /** Ends the process and removes what it stored. */
  stop(): Promise<void>;
}

type Told = Omit<RestFloor, 'stop'>;

/** Starts the routes in a process of their own, on the given Redis and Postgres. */
export async function startRestFloor(urls: { readonly redis: string; readonly postgres: string }): Promise<RestFloor> {
  const env = { ...process.env, REDIS_URL: urls.redis, DATABASE_URL: urls.postgres };
  const child = fork(__filename, ['serve'], { execArgv: ['--require', 'tsx/cjs'], env });
  const failed = once(child, 'exit').then(() => Promise.reject(new Error('The floor did not start.')));
  // Its first message, which the child below sends.
  const [told] = (await Promise.race([once(child, 'message'), failed])) as [Told];
  return {
    ...told,
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

const rows = 1_000;
const entryInput = z.strictObject({
  content: z.string().min(1).max(65_536),
  kind: z.enum(['note']).default('note'),
  fields: z.strictObject({}).default({}),
});

async function serve(redisUrl: string, databaseUrl: string): Promise<void> {
  const name = `rest_floor_${randomUUID().replaceAll('-', '')}`;
  const redis = new Redis(redisUrl);
  const pool = new Pool({ connectionString: databaseUrl, max: 10 });
  const key = `plm_${randomUUID()}`;
  await pool.query(
    `create table ${name} (id text primary key, title text, metadata jsonb, owner_id text, created_at timestamptz)`,
  );
  await pool.query(
    `insert into ${name} select 'thread_' || n, 'a title', '{}', 'user_1', now() from generate_series(1, ${rows}) n`,
  );
  const app = express();
  const keys = new Map([[key, { userId: 'user_1' }]]);
  appendRoute(app, keys, redis, name);
  getRoute(app, keys, pool, name);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.once('disconnect', () => {
    server.close();
    server.closeAllConnections();
    void Promise.all([redis.del(name), pool.query(`drop table ${name}`)]).finally(() => process.exit());
  });
  // A server that listens on a port has an address of this form.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const told: Told = { appendUrl: `${url}/pads/sp_1/entries`, getUrl: `${url}/threads/thread_${rows / 2}`, key };
  process.send?.(told);
}

type Keys = ReadonlyMap<string, { readonly userId: string }>;

const callerOf = (keys: Keys, authorization: string | undefined) => keys.get((authorization ?? '').slice(7));

function appendRoute(app: Express, keys: Keys, redis: Redis, list: string): void {
  app.post('/pads/:padId/entries', express.json({ limit: '1mb' }), async (request, response) => {
    const caller = callerOf(keys, request.headers.authorization);
    if (!caller) return void response.sendStatus(401);
    const input = entryInput.safeParse(request.body);
    if (!input.success) return void response.sendStatus(400);
    const entry = { id: randomUUID(), ...input.data, author: caller.userId, at: new Date().toISOString() };
    const index = await redis.rpush(list, JSON.stringify(entry));
    response.status(201).json({ data: { ...entry, index } });
  });
}

function getRoute(app: Express, keys: Keys, pool: Pool, table: string): void {
  const text = `select id, title, metadata, owner_id, created_at from ${table} where id = $1`;
  app.get('/threads/:threadId', async (request, response) => {
    if (!callerOf(keys, request.headers.authorization)) return void response.sendStatus(401);
    const found = await pool.query<Record<string, unknown>>({ name: 'by-id', text, values: [request.params.threadId] });
    const [data] = found.rows;
    if (data) response.json({ data });
    else response.sendStatus(404);
  });
}

if (process.argv[2] === 'serve' && process.send) {
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl } = process.env;
  if (redisUrl === undefined || databaseUrl === undefined) throw new Error('REDIS_URL and DATABASE_URL are needed.');
  void serve(redisUrl, databaseUrl);
}
