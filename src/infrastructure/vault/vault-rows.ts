import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import type { Activation, VersionRef } from '../../application/ports/credential-vault.js';
import type { Statements } from '../postgres/database.js';
import { holdMinimums, leastKek } from '../postgres/kek-minimums.js';

const storedRow = z.object({ id: z.string(), outcome: z.enum(['stored', 'begun before', 'key too old']) });
const activatedRow = z.object({
  id: z.string(),
  found: z.boolean(),
  overtaken: z.boolean(),
  previous: z.string().nullable(),
});

/** A version to be stored, in a form that JSON can carry. */
export interface SealedRow {
  readonly id: string;
  readonly row: Readonly<Record<string, unknown>>;
}

export type Stored = z.output<typeof storedRow>['outcome'];

/** Stores versions. Invariant: a version that was sealed under a KEK that was rotated away is not stored. */
export async function storeAll(system: Statements, versions: readonly SealedRow[]): Promise<readonly Stored[]> {
  const [, outcome] = await system.run(
    holdMinimums,
    sql`
      with row as (
        select * from json_to_recordset(${JSON.stringify(versions.map(({ row }) => row))}::json) as row (
          id text, owner_id text, provider text, credential_id text, agent_id text, form smallint, nonce text,
          ciphertext text, tag text, wrapped_key text, kms text, kek integer, unless_begun boolean)),
      begun as (
        -- In one order for everybody: who waits for another's row holds none that the other waits for.
        insert into palimpsest.begun_enrollments select agent_id from row order by agent_id
        on conflict do nothing returning agent_id),
      stored as (
        insert into palimpsest.sealed_credentials
          (id, owner_id, provider, credential_id, agent_id, form, nonce, ciphertext, tag, wrapped_key, kms, kek)
        select id, owner_id, provider, credential_id, agent_id, form, decode(nonce, 'base64'),
          decode(ciphertext, 'base64'), decode(tag, 'base64'), decode(wrapped_key, 'base64'), kms, kek
        from row
        where kek >= ${leastKek(sql`row.kms`)}
          and (not unless_begun or agent_id in (select agent_id from begun))
        returning id)
      select id, case
          when id in (select id from stored) then 'stored'
          when unless_begun and agent_id not in (select agent_id from begun) then 'begun before'
          else 'key too old'
        end as outcome
      from row`,
  );
  const outcomes = new Map(
    (outcome?.rows ?? []).map((row) => storedRow.parse(row)).map((row) => [row.id, row.outcome]),
  );
  return versions.map(({ id }) => outcomes.get(id) ?? 'key too old');
}

export interface NamedVersion {
  readonly version: VersionRef;
  readonly position: bigint;
}

/** Activates versions that events name. Invariant: the version of the latest position is the active one, others are retired. */
export async function activateAll(system: Statements, named: readonly NamedVersion[]): Promise<readonly Activation[]> {
  const rows = named.map(({ version: { id, ownerId, provider }, position }) => ({
    id,
    owner_id: ownerId,
    provider,
    position: String(position),
  }));
  const asked = sql`
    json_to_recordset(${JSON.stringify(rows)}::json) as asked (id text, owner_id text, provider text, position bigint)`;
  const [, , outcome] = await system.run(
    // It can be done again from the event, so it need not wait for the disk. Rows are found by key, however few they are
    // while this is planned; not by the index of what is staged, which is full of what was staged before.
    sql`select set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
    sql`
      update palimpsest.sealed_credentials version set event_position = asked.position from ${asked}
      where version.id = any(${rows.map(({ id }) => id)}::text[]) and version.id = asked.id
        and version.owner_id = asked.owner_id and version.provider = asked.provider
        and coalesce(version.event_position, -1) = -1`,
    sql`
      select asked.id, previous, mine.id is not null as found, later.id is not null as overtaken
      from ${asked} left join lateral (
        select earlier.id as previous from palimpsest.sealed_credentials earlier
        where earlier.owner_id = asked.owner_id and earlier.provider = asked.provider
          and earlier.event_position < asked.position
        order by earlier.event_position desc limit 1) as before on true
      left join lateral (
        select mine.id from palimpsest.sealed_credentials mine
        where mine.id = asked.id and mine.owner_id = asked.owner_id and mine.event_position is not null limit 1) as mine
        on true
      left join lateral (
        select later.id from palimpsest.sealed_credentials later
        where later.owner_id = asked.owner_id and later.provider = asked.provider
          and later.event_position > asked.position limit 1) as later on true`,
  );
  const found = new Map((outcome?.rows ?? []).map((row) => activatedRow.parse(row)).map((row) => [row.id, row]));
  return named.map(({ version: { id } }) => {
    const row = found.get(id);
    const status = !row?.found ? 'gone' : row.overtaken ? 'retired' : 'active';
    return { status, previousVersionId: row?.previous ?? undefined };
  });
}
