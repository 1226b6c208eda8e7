import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { Client } from 'pg';

async function onDatabase<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Every row of every table as text, by table: the read models', the system's and the event store's own. */
export const dumpDatabase = (url: string): Promise<ReadonlyMap<string, string>> =>
  onDatabase(url, async (client) => {
    const tables = await client.query<{ name: string }>(`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`);
    const dump = new Map<string, string>();
    for (const { name } of tables.rows) {
      const rows = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      dump.set(name, rows.rows.map(({ row }) => row).join('\n'));
    }
    return dump;
  });

/** Lets the server log every statement of a database with its parameters, from the next connection on. */
export const logStatements = (url: string): Promise<void> =>
  onDatabase(url, async (client) => {
    const { rows } = await client.query<{ name: string }>('select quote_ident(current_database()) as name');
    const [database] = rows;
    await client.query(`alter database ${database?.name ?? ''} set log_statement = 'all'`);
    await client.query(`alter database ${database?.name ?? ''} set log_error_verbosity = 'verbose'`);
  });

/** What the server wrote to its log; undefined where this machine cannot see it. */
export async function postgresLog(url: string): Promise<string | undefined> {
  const folder = await onDatabase(url, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory ?? '';
  });
  try {
    const [pid] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
    return readFileSync(readlinkSync(`/proc/${pid ?? ''}/fd/2`), 'utf8');
  } catch {
    return undefined;
  }
}

/** Every key and what it holds, queues included. */
export async function dumpRedis(redis: Redis): Promise<string> {
  const parts: string[] = [];
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key);
    const value: unknown =
      type === 'string'
        ? await redis.get(key)
        : type === 'list'
          ? await redis.lrange(key, 0, -1)
          : type === 'hash'
            ? await redis.hgetall(key)
            : type === 'zset'
              ? await redis.zrange(key, '0', '-1')
              : type === 'stream'
                ? await redis.xrange(key, '-', '+')
                : await redis.smembers(key);
    parts.push(key, JSON.stringify(value));
  }
  return parts.join('\n');
}
