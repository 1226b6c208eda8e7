import { escapeIdentifier, type ClientBase } from 'pg';

/*
 * `position` orders everything; `(stream, revision)` orders a stream, and makes it impossible to write one place twice
 * whatever else goes wrong. `lasts` remembers where a stream ended after a scavenge has removed its end.
 */
const tables = (schema: string): string => `
  create table if not exists ${schema}.events (
    position bigint primary key,
    stream   text collate "C" not null,
    revision bigint not null,
    id       uuid not null,
    type     text collate "C" not null,
    json     boolean not null,
    created  bigint not null,
    data     bytea not null,
    metadata bytea not null,
    unique (stream, revision)
  );
  create index if not exists tombstones on ${schema}.events (stream) where revision = 9223372036854775807;
  create table if not exists ${schema}.lasts (
    stream   text collate "C" primary key,
    revision bigint not null
  );
  create table if not exists ${schema}.progress (
    one      boolean primary key default true check (one),
    position bigint not null
  );
  create table if not exists ${schema}.writer (
    epoch bigint primary key
  );
  insert into ${schema}.writer (epoch) select 0 where not exists (select from ${schema}.writer);
`;

/** A number by which processes that share a database and a schema find each other's advisory lock. */
export const lockKey = (schema: string): string => `palimpsest event store ${schema}`;

/** Makes the schema and its tables unless they are there. Safe when several processes do it at once. */
export async function migrate(client: ClientBase, schema: string): Promise<void> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [lockKey(schema)]);
    await createSchema(client, schema);
    await client.query(tables(escapeIdentifier(schema)));
    await client.query('commit');
  } catch (fault) {
    await client.query('rollback').catch(() => undefined);
    throw fault;
  }
}

/** Asks first: creating even one that is there takes a right that a careful operator may not have given. */
async function createSchema(client: ClientBase, schema: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rowCount === 0) await client.query(`create schema ${escapeIdentifier(schema)}`);
}
