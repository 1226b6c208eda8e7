import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';
import type { Pool } from 'pg';

export interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** About 500 bytes on the wire. */
const body = { text: 'x'.repeat(420) };
const bodyBytes = Buffer.from(JSON.stringify(body));
const nothing = Buffer.alloc(0);

/** Keeps `inFlight` of them going until `total` are done. Times are in milliseconds. */
export async function load(inFlight: number, total: number, one: (n: number) => Promise<unknown>): Promise<Load> {
  const times: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < total; n = next++) {
      const began = performance.now();
      await one(n);
      times.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { perSecond: total / seconds, p50: at(0.5), p99: at(0.99) };
}

/** Appends one event to one of 200 streams. */
export const appendTo = (client: EventStoreDBClient, prefix: string) => (n: number) =>
  client.appendToStream(`${prefix}-${n % 200}`, jsonEvent({ type: 'happened', data: body }), {
    expectedRevision: 'any',
  });

/** The plainest way to keep an event in Postgres: one row per statement, in a table like the event store's. */
export async function insertInto(pool: Pool): Promise<(n: number) => Promise<unknown>> {
  await pool.query(`
    create table if not exists plain_events (
      position bigserial primary key, stream text collate "C" not null, revision bigint not null, id uuid not null,
      type text not null, data bytea not null, metadata bytea not null, unique (stream, revision))`);
  let revision = Date.now();
  return (n) =>
    pool.query({
      name: 'insert-plain',
      text: `insert into plain_events (stream, revision, id, type, data, metadata)
        values ($1, $2, gen_random_uuid(), 'happened', $3, $4)`,
      values: [`plain-${n % 200}`, revision++, bodyBytes, nothing],
    });
}

/** Events that are there already, put in by the thousand. */
export const fill = (pool: Pool, schema: string, from: number, count: number): Promise<unknown> =>
  pool.query(
    `insert into ${schema}.events (position, stream, revision, id, type, json, created, data, metadata)
     select $3::bigint + n * 600, 'filled-' || n % 10000, n / 10000, gen_random_uuid(), 'happened', true, 0, $4, ''
     from generate_series($1::bigint, $1::bigint + $2::bigint - 1) n`,
    [from, count, 1_000_000, bodyBytes],
  );
