import { z } from 'zod';
import { sql, type Sql } from '../../../projections/sql.js';
import { credentialIdOf } from '../../application/enrollment/fence.js';
import {
  Unsealable,
  type Activation,
  type StagedVersion,
  type Vault,
  type VersionRef,
} from '../../application/vault.js';
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

const activatedRow = z.object({ id: z.string(), status: z.enum(['active', 'retired']) });

/** The version that an enrollment up to this position brought, and the one before it. */
const lastTwo = ({ ownerId, provider }: VersionRef, position: bigint): Sql => sql`
  select id, status from palimpsest.sealed_credentials
  where owner_id = ${ownerId} and provider = ${provider} and event_position <= ${position}
  order by event_position desc limit 2`;

function activationOf(id: string, found: readonly unknown[]): Activation {
  const rows = z.array(activatedRow).parse(found);
  return {
    status: rows.find((row) => row.id === id)?.status ?? 'gone',
    previousVersionId: rows.find((row) => row.id !== id)?.id,
  };
}

/** The vault's rows in Postgres, on the system's side: tenants' connections cannot read the table. */
export function makePostgresVault(system: Statements, kms: Kms): Vault {
  const one = async (statement: Sql) => (await system.run(statement))[0]?.rows ?? [];

  return {
    async stage(version, value) {
      const { id, ownerId, provider, agentId } = version;
      const credentialId = credentialIdOf(ownerId, provider);
      const { form, nonce, ciphertext, tag, wrapped } = await sealValue({ ...version, credentialId }, value, kms);
      const [, outcome] = await system.run(
        holdMinimums,
        sql`insert into palimpsest.sealed_credentials
          (id, owner_id, provider, credential_id, agent_id, form, nonce, ciphertext, tag, wrapped_key, kms, kek)
          select ${id}, ${ownerId}, ${provider}, ${credentialId}, ${agentId}, ${form}::smallint,
          ${nonce}::bytea, ${ciphertext}::bytea, ${tag}::bytea, ${wrapped.bytes}::bytea, ${wrapped.kms}, ${wrapped.kek}::integer
          where ${wrapped.kek}::integer >= ${leastKek(wrapped.kms)}`,
      );
      // Sealed with a KEK that was rotated away, it could not be opened again.
      if (outcome?.count !== 1) throw new KeyUnavailable(wrapped.kms, wrapped.kek);
    },

    async activate(version, position): Promise<Activation> {
      const { id, ownerId, provider } = version;
      const outcomes = await system.run(
        // It can be done again from the event, so it need not wait for the disk.
        sql`select set_config('synchronous_commit', 'off', true),
          pg_advisory_xact_lock(hashtextextended('credential ' || ${ownerId} || ' ' || ${provider}, 0))`,
        sql`update palimpsest.sealed_credentials set status = 'retired', retired_at = now()
          where owner_id = ${ownerId} and provider = ${provider} and status = 'active' and event_position < ${position}
            and exists (select from palimpsest.sealed_credentials where id = ${id} and status = 'staged')`,
        sql`update palimpsest.sealed_credentials as version
          set event_position = ${position}, activated_at = now(), (status, retired_at) = (
            select case when count(*) = 0 then 'active' else 'retired' end, case when count(*) > 0 then now() end
            from palimpsest.sealed_credentials
            where owner_id = ${ownerId} and provider = ${provider} and status = 'active')
          where id = ${id} and owner_id = ${ownerId} and provider = ${provider} and status = 'staged'`,
        lastTwo(version, position),
      );
      return activationOf(id, outcomes.at(-1)?.rows ?? []);
    },

    async standing(version, position) {
      const rows = await one(sql`
        select id, 'staged' as status from palimpsest.sealed_credentials where id = ${version.id} and status = 'staged'
        union all (${lastTwo(version, position)})`);
      return rows.some(({ status }) => status === 'staged') ? undefined : activationOf(version.id, rows);
    },

    async discard({ id, ownerId }) {
      await system.run(sql`
        delete from palimpsest.sealed_credentials where id = ${id} and owner_id = ${ownerId} and status = 'staged'`);
    },

    async holds(ownerId, provider) {
      const rows = await one(sql`
        select 1 from palimpsest.sealed_credentials
        where owner_id = ${ownerId} and provider = ${provider} and status = 'active'`);
      return rows.length > 0;
    },

    async staged(ownerId, provider) {
      const rows = await one(sql`
        select ${stagedColumns} from palimpsest.sealed_credentials
        where owner_id = ${ownerId} and provider = ${provider} and status = 'staged' order by created_at`);
      return z.array(stagedRow).parse(rows);
    },

    async stagedLongerThan(ageMs, limit): Promise<readonly StagedVersion[]> {
      const rows = await one(sql`
        select ${stagedColumns} from palimpsest.sealed_credentials
        where status = 'staged' and created_at < clock_timestamp() - make_interval(secs => ${ageMs / 1000}::float8)
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
        where owner_id = ${ownerId} and provider = ${provider} and status = 'active'`);
      if (!row) return undefined;
      const { id, agentId, credentialId, kms: wrappedBy, kek, wrappedKey, usable, ...sealed } = sealedRow.parse(row);
      if (!usable) throw new Unsealable();
      const wrapped = { kms: wrappedBy, kek, bytes: wrappedKey };
      return openValue({ id, ownerId, provider, agentId, credentialId }, { ...sealed, wrapped }, kms);
    },

    async destroyRetired({ id, ownerId }) {
      await system.run(sql`
        delete from palimpsest.sealed_credentials where id = ${id} and owner_id = ${ownerId} and status = 'retired'`);
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
