import { z } from 'zod';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import { credentialIdOf } from '../../application/ports/credential-vault.js';
import {
  Unsealable,
  type Activation,
  type StagedVersion,
  type CredentialVault,
  type VersionRef,
} from '../../application/ports/credential-vault.js';
import { Batcher } from '../../application/kernel/concurrency/batcher.js';
import type { Statements } from '../postgres/database.js';
import { holdMinimums, leastKek } from '../postgres/kek-minimums.js';
import { openValue, sealValue } from './envelope.js';
import { KeyUnavailable, type Kms } from './kms.js';

const stagedRow = z.object({
  id: z.string(),
  ownerId: z.string(),
  provider: z.string(),
  agentId: z.string(),
  ageMs: z.coerce.number(),
});

const stagedColumns = sql`id, owner_id as "ownerId", provider, agent_id as "agentId",
  round(extract(epoch from clock_timestamp() - created_at) * 1000) as "ageMs"`;

const sealedRow = z.object({
  id: z.string(),
  agentId: z.string(),
  credentialId: z.string(),
  form: z.coerce.number(),
  nonce: z.instanceof(Buffer),
  ciphertext: z.instanceof(Buffer),
  tag: z.instanceof(Buffer),
  wrappedKey: z.instanceof(Buffer),
  kms: z.string(),
  kek: z.coerce.number(),
  /** False when the KEK is older than may be used. */
  usable: z.boolean(),
});

const storedRow = z.object({ id: z.string(), outcome: z.enum(['stored', 'begun before', 'key too old']) });
const activatedRow = z.object({
  id: z.string(),
  found: z.boolean(),
  overtaken: z.boolean(),
  previous: z.string().nullable(),
});

/** A version to be stored, in a form that JSON can carry. */
interface Sealed {
  readonly id: string;
  readonly row: Readonly<Record<string, unknown>>;
}

/** Enrollments that arrive together are sealed and activated together, up to so many. */
const mostTogether = 64;

type Stored = z.output<typeof storedRow>['outcome'];

/** What was sealed with a KEK that was rotated away could not be opened again: it is not stored. */
async function storeAll(system: Statements, versions: readonly Sealed[]): Promise<readonly Stored[]> {
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

interface Named {
  readonly version: VersionRef;
  readonly position: bigint;
}

/** The event that names a version makes it the active one, or a retired one: whichever has the latest position is it. */
async function activateAll(system: Statements, named: readonly Named[]): Promise<readonly Activation[]> {
  const rows = named.map(({ version: { id, ownerId, provider }, position }) => ({
    ...{ id, owner_id: ownerId, provider, position: String(position) },
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

/** The vault's rows in Postgres, on the system's side: tenants' connections cannot read the table. */
export function makePostgresVault(system: Statements, kms: Kms): CredentialVault {
  const one = async (statement: Sql) => (await system.run(statement))[0]?.rows ?? [];

  const stored = new Batcher<Sealed, Stored>({
    max: mostTogether,
    paced: true,
    run: (versions) => storeAll(system, versions),
  });
  const activated = new Batcher<Named, Activation>({
    max: mostTogether,
    paced: true,
    run: (named) => activateAll(system, named),
  });

  return {
    async stage(version, value, condition) {
      const { id, ownerId, provider, agentId } = version;
      const credentialId = credentialIdOf(ownerId, provider);
      const { form, nonce, ciphertext, tag, wrapped } = await sealValue({ ...version, credentialId }, value, kms);
      const row = {
        ...{ id, owner_id: ownerId, provider, credential_id: credentialId, agent_id: agentId, form },
        ...{ nonce: nonce.toString('base64'), ciphertext: ciphertext.toString('base64'), tag: tag.toString('base64') },
        ...{ wrapped_key: wrapped.bytes.toString('base64'), kms: wrapped.kms, kek: wrapped.kek },
        unless_begun: condition === 'only if first',
      };
      const outcome = await stored.add({ id, row });
      if (outcome === 'key too old') throw new KeyUnavailable(wrapped.kms, wrapped.kek);
      return outcome === 'stored';
    },

    activate: (version, position) => activated.add({ version, position }),

    async discard({ id, ownerId }) {
      await system.run(sql`
        delete from palimpsest.sealed_credentials where id = ${id} and owner_id = ${ownerId} and event_position is null`);
    },

    async has(ownerId, provider) {
      const rows = await one(sql`
        select 1 from palimpsest.sealed_credentials
        where owner_id = ${ownerId} and provider = ${provider} and event_position is not null limit 1`);
      return rows.length > 0;
    },

    async staged(ownerId, provider) {
      const rows = await one(sql`
        select ${stagedColumns} from palimpsest.sealed_credentials
        where owner_id = ${ownerId} and provider = ${provider} and event_position is null order by created_at`);
      return z.array(stagedRow).parse(rows);
    },

    async stagedLongerThan(ageMs, limit): Promise<readonly StagedVersion[]> {
      const rows = await one(sql`
        select ${stagedColumns} from palimpsest.sealed_credentials
        where event_position is null and created_at < clock_timestamp() - make_interval(secs => ${ageMs / 1000}::float8)
        order by created_at limit ${limit}`);
      return z.array(stagedRow).parse(rows);
    },

    async find(ownerId, credentialId) {
      const [row] = await one(sql`
        select provider, max(event_position)::text as latest from palimpsest.sealed_credentials
        where owner_id = ${ownerId} and credential_id = ${credentialId} group by provider`);
      if (!row) return undefined;
      const { provider, latest } = z.object({ provider: z.string(), latest: z.string().nullable() }).parse(row);
      return { provider, latest: latest === null ? undefined : BigInt(latest) };
    },

    async open(ownerId, provider) {
      const [row] = await one(sql`
        select id, agent_id as "agentId", credential_id as "credentialId", form, nonce, ciphertext, tag,
          wrapped_key as "wrappedKey", kms, kek, kek >= ${leastKek(sql`version.kms`)} as usable
        from palimpsest.sealed_credentials version
        where owner_id = ${ownerId} and provider = ${provider} and event_position is not null
        order by event_position desc limit 1`);
      if (!row) return undefined;
      const { id, agentId, credentialId, kms: wrappedBy, kek, wrappedKey, usable, ...sealed } = sealedRow.parse(row);
      if (!usable) throw new Unsealable();
      const wrapped = { kms: wrappedBy, kek, bytes: wrappedKey };
      return openValue({ id, ownerId, provider, agentId, credentialId }, { ...sealed, wrapped }, kms);
    },

    async destroyRetired({ id, ownerId }) {
      await system.run(sql`
        delete from palimpsest.sealed_credentials version
        where id = ${id} and owner_id = ${ownerId} and exists (select from palimpsest.sealed_credentials later
          where later.owner_id = version.owner_id and later.provider = version.provider
            and later.event_position > version.event_position)`);
    },

    async destroy(ownerId, provider, upTo) {
      await system.run(sql`
        delete from palimpsest.sealed_credentials
        where owner_id = ${ownerId} and provider = ${provider} and event_position <= ${upTo}`);
    },

    async destroyOwner(ownerId) {
      await system.run(sql`delete from palimpsest.sealed_credentials where owner_id = ${ownerId}`);
    },
  };
}
