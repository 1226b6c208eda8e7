import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { openEventStore } from '../../../src/infrastructure/eventstore/event-store.js';
import { quiet } from '../../support/quiet.js';
import type { Home } from './home.js';

/** Everything that a home keeps, as text, by the place where it lies. */
export async function everythingOf(home: Home): Promise<ReadonlyMap<string, string>> {
  return new Map([...(await rows(home)), ['events', await events(home)], ...(await keys(home)), ['logs', home.logs()]]);
}

/** Places where a word can be read: plain, or in a coding that anybody can undo. */
export function placesOf(word: string, everything: ReadonlyMap<string, string>): readonly string[] {
  const bytes = Buffer.from(word);
  // Base64 of a word inside a longer text begins at any of three places: the inner part of each is looked for.
  const inner = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  );
  const forms = [word, encodeURIComponent(word), bytes.toString('hex'), ...inner];
  return [...everything].filter(([, text]) => forms.some((form) => text.includes(form))).map(([place]) => place);
}

async function rows(home: Home): Promise<[string, string][]> {
  const client = new Client({ connectionString: home.databaseUrl() });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`);
    const texts: [string, string][] = [];
    for (const { name } of tables) {
      const { rows: all } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      texts.push([`table ${name}`, all.map(({ text }) => text).join('\n')]);
    }
    return texts;
  } finally {
    await client.end();
  }
}

async function events(home: Home): Promise<string> {
  const port = readFileSync(join(home.folder, 'eventstore.port'), 'utf8').trim();
  const log = openEventStore(`esdb://127.0.0.1:${port}?tls=false`, quiet);
  try {
    return JSON.stringify(await log.readAll(undefined, 1_000_000), (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  } finally {
    await log.close();
  }
}

async function keys(home: Home): Promise<[string, string][]> {
  const redis = new Redis(home.redisUrl());
  try {
    const names = await redis.keys('*');
    return await Promise.all(
      names.map(async (name): Promise<[string, string]> => [
        `key ${name}`,
        `${name}${JSON.stringify(await valueOf(redis, name))}`,
      ]),
    );
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: Redis, name: string): Promise<unknown> {
  switch (await redis.type(name)) {
    case 'string':
      return redis.get(name);
    case 'hash':
      return redis.hgetall(name);
    case 'list':
      return redis.lrange(name, 0, -1);
    case 'set':
      return redis.smembers(name);
    case 'zset':
      return redis.zrange(name, '0', '-1');
    case 'stream':
      return redis.xrange(name, '-', '+');
    default:
      return undefined;
  }
}
