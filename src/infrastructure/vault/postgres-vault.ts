import { z } from 'zod';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import { Batcher } from '../../application/kernel/concurrency/batcher.js';
import type { Secret } from '../../application/kernel/secret.js';
import {
  credentialIdOf,
  Unsealable,
  type Activation,
  type CredentialVault,
  type StagedVersion,
  type VersionRef,
} from '../../application/ports/credential-vault.js';
import type { Statements } from '../postgres/database.js';
import { leastKek } from '../postgres/kek-minimums.js';
import { openValue, sealValue } from './envelope.js';
import { KeyUnavailable, type Kms } from './kms.js';
import { activateAll, storeAll, type NamedVersion, type SealedRow, type Stored } from './vault-rows.js';

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

/** Enrollments that arrive together are sealed and activated together, up to so many. */
const maxTogether = 64;

/** Keeps the vault's rows in Postgres, on the system's side: tenants' connections cannot read the table. */
export const makePostgresVault = (system: Statements, kms: Kms): CredentialVault => new PostgresVault(system, kms);

class PostgresVault implements CredentialVault {
  private readonly stored: Batcher<SealedRow, Stored>;
  private readonly activated: Batcher<NamedVersion, Activation>;

  constructor(
    private readonly system: Statements,
    private readonly kms: Kms,
  ) {
    const batches = { max: maxTogether, paced: true };
    this.stored = new Batcher({ ...batches, run: (versions) => storeAll(system, versions) });
    this.activated = new Batcher({ ...batches, run: (named) => activateAll(system, named) });
  }

  async stage(version: VersionRef, value: Secret, condition?: 'only if first'): Promise<boolean> {
    const { id, ownerId, provider, agentId } = version;
    const credentialId = credentialIdOf(ownerId, provider);
    const { form, nonce, ciphertext, tag, wrapped } = await sealValue({ ...version, credentialId }, value, this.kms);
    const row = {
      id,
      owner_id: ownerId,
      provider,
      credential_id: credentialId,
      agent_id: agentId,
      form,
      nonce: nonce.toString('base64'),
      ciphertext: ciphertext.toString('base64'),
      tag: tag.toString('base64'),
      wrapped_key: wrapped.bytes.toString('base64'),
      kms: wrapped.kms,
      kek: wrapped.kek,
      unless_begun: condition === 'only if first',
    };
    const outcome = await this.stored.add({ id, row });
    if (outcome === 'key too old') throw new KeyUnavailable(wrapped.kms, wrapped.kek);
    return outcome === 'stored';
  }

  activate(version: VersionRef, position: bigint): Promise<Activation> {
    return this.activated.add({ version, position });
  }

  async discard({ id, ownerId }: VersionRef): Promise<void> {
    await this.system.run(sql`
      delete from palimpsest.sealed_credentials where id = ${id} and owner_id = ${ownerId} and event_position is null`);
  }

  async has(ownerId: string, provider: string): Promise<boolean> {
    const rows = await this.rows(sql`
      select 1 from palimpsest.sealed_credentials
      where owner_id = ${ownerId} and provider = ${provider} and event_position is not null limit 1`);
    return rows.length > 0;
  }

  async staged(ownerId: string, provider: string): Promise<readonly StagedVersion[]> {
    const rows = await this.rows(sql`
      select ${stagedColumns} from palimpsest.sealed_credentials
      where owner_id = ${ownerId} and provider = ${provider} and event_position is null order by created_at`);
    return z.array(stagedRow).parse(rows);
  }

  async stagedLongerThan(ageMs: number, limit: number): Promise<readonly StagedVersion[]> {
    const rows = await this.rows(sql`
      select ${stagedColumns} from palimpsest.sealed_credentials
      where event_position is null and created_at < clock_timestamp() - make_interval(secs => ${ageMs / 1000}::float8)
      order by created_at limit ${limit}`);
    return z.array(stagedRow).parse(rows);
  }

  async find(ownerId: string, credentialId: string) {
    const [row] = await this.rows(sql`
      select provider, max(event_position)::text as latest from palimpsest.sealed_credentials
      where owner_id = ${ownerId} and credential_id = ${credentialId} group by provider`);
    if (!row) return undefined;
    const { provider, latest } = z.object({ provider: z.string(), latest: z.string().nullable() }).parse(row);
    return { provider, latest: latest === null ? undefined : BigInt(latest) };
  }

  async open(ownerId: string, provider: string): Promise<Secret | undefined> {
    const [row] = await this.rows(sql`
      select id, agent_id as "agentId", credential_id as "credentialId", form, nonce, ciphertext, tag,
        wrapped_key as "wrappedKey", kms, kek, kek >= ${leastKek(sql`version.kms`)} as usable
      from palimpsest.sealed_credentials version
      where owner_id = ${ownerId} and provider = ${provider} and event_position is not null
      order by event_position desc limit 1`);
    if (!row) return undefined;
    const { id, agentId, credentialId, kms: wrappedBy, kek, wrappedKey, usable, ...sealed } = sealedRow.parse(row);
    if (!usable) throw new Unsealable();
    const wrapped = { kms: wrappedBy, kek, bytes: wrappedKey };
    return openValue({ id, ownerId, provider, agentId, credentialId }, { ...sealed, wrapped }, this.kms);
  }

  async destroyRetired({ id, ownerId }: VersionRef): Promise<void> {
    await this.system.run(sql`
      delete from palimpsest.sealed_credentials version
      where id = ${id} and owner_id = ${ownerId} and exists (select from palimpsest.sealed_credentials later
        where later.owner_id = version.owner_id and later.provider = version.provider
          and later.event_position > version.event_position)`);
  }

  async destroy(ownerId: string, provider: string, upTo: bigint): Promise<void> {
    await this.system.run(sql`
      delete from palimpsest.sealed_credentials
      where owner_id = ${ownerId} and provider = ${provider} and event_position <= ${upTo}`);
  }

  async destroyOwner(ownerId: string): Promise<void> {
    await this.system.run(sql`delete from palimpsest.sealed_credentials where owner_id = ${ownerId}`);
  }

  private async rows(statement: Sql) {
    return (await this.system.run(statement))[0]?.rows ?? [];
  }
}
