import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import type { Statements } from '../postgres/database.js';
import { personalDataKeysMinimum, raiseMinimums } from '../postgres/kek-minimums.js';
import { rewrapPersonalDataKeys } from '../postgres/personal-data-keys.js';
import { rewrap } from './envelope.js';
import type { KekRing } from './kek-ring.js';
import type { Kms, WrappedKey } from './kms.js';
import { localKmsName } from './local-kms.js';
import { rootKeyContext } from './root-key.js';

export interface Rotated {
  /** Number of the KEK that everything is wrapped with now. */
  readonly kek: number;
  readonly credentials: number;
  readonly personalDataKeys: number;
}

const wrappedRow = z.object({
  id: z.string(),
  ownerId: z.string(),
  provider: z.string(),
  agentId: z.string(),
  credentialId: z.string(),
  form: z.coerce.number(),
  kms: z.string(),
  kek: z.coerce.number(),
  bytes: z.instanceof(Buffer),
});
const rootRow = wrappedRow.pick({ kms: true, kek: true, bytes: true });

const atOnce = 100;

/**
 * Wraps every data key, and the root key, under the current KEK; then no earlier one may open anything. `kms` wraps
 * credentials and the root key, `keks` the owners' data keys. Invariant: sealed values are not touched and can be used
 * meanwhile, as long as every running process has both KEKs; a rotation can be repeated, also after an interruption.
 */
export async function rotateKek(system: Statements, keks: KekRing, kms: Kms): Promise<Rotated> {
  const kek = await kms.current();
  const credentials = await rewrapCredentials(system, kms, kek);
  await rewrapRootKey(system, kms);
  const personalDataKeys = await rewrapPersonalDataKeys(system, keks);
  await raiseMinimums(
    system,
    new Map([
      [kms.name, kek],
      [personalDataKeysMinimum, keks.current.number],
      // Where a KMS has taken over, no KEK of the installation's own opens a credential any more.
      ...(kms.name === localKmsName ? [] : [[localKmsName, aboveAll(keks)] as const]),
    ]),
  );
  // Once more, for keys that a process with the earlier KEK wrapped before the minimum was raised.
  return {
    kek,
    credentials: credentials + (await rewrapCredentials(system, kms, kek)),
    personalDataKeys: personalDataKeys + (await rewrapPersonalDataKeys(system, keks)),
  };
}

const aboveAll = ({ all }: KekRing): number => Math.max(...all.map(({ number }) => number)) + 1;

async function rewrapCredentials(system: Statements, kms: Kms, current: number): Promise<number> {
  for (let rewrapped = 0; ;) {
    const [outcome] = await system.run(sql`
      select id, owner_id as "ownerId", provider, agent_id as "agentId", credential_id as "credentialId", form, kms, kek,
        wrapped_key as bytes
      from palimpsest.sealed_credentials where kms <> ${kms.name} or kek <> ${current} limit ${atOnce}`);
    const rows = (outcome?.rows ?? []).map((row) => wrappedRow.parse(row));
    if (rows.length === 0) return rewrapped;
    for (const { kms: wrappedBy, kek, bytes, form, ...version } of rows) {
      const now = await rewrap(version, { form, wrapped: { kms: wrappedBy, kek, bytes } }, kms);
      await system.run(sql`
        update palimpsest.sealed_credentials set kms = ${now.kms}, kek = ${now.kek}, wrapped_key = ${now.bytes}
        where id = ${version.id} and wrapped_key = ${bytes}`);
      rewrapped += 1;
    }
  }
}

async function rewrapRootKey(system: Statements, kms: Kms): Promise<void> {
  const [outcome] = await system.run(sql`select kms, kek, wrapped as bytes from palimpsest.root_key`);
  const stored: WrappedKey = rootRow.parse(outcome?.rows[0]);
  const now = await kms.wrap(await kms.unwrap(stored, rootKeyContext), rootKeyContext);
  await system.run(sql`
    update palimpsest.root_key set kms = ${now.kms}, kek = ${now.kek}, wrapped = ${now.bytes}
    where wrapped = ${stored.bytes}`);
}
