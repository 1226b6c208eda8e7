import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import { StartupError } from '../startup-error.js';
import type { Statements } from '../postgres/database.js';
import { leastKek, personalDataKeysMinimum } from '../postgres/kek-minimums.js';
import { assertKekOpens } from '../postgres/personal-data-keys.js';
import type { KekRing } from './kek-ring.js';
import type { Kms } from './kms.js';

const usedRow = z.object({ kms: z.string(), kek: z.coerce.number() });
const minimumRow = z.object({ credentials: z.coerce.number(), personalDataKeys: z.coerce.number() });

/** Refuses a start without a KEK that something stored needs, or with one that may not be used any more. */
export async function assertKeysThere(system: Statements, keks: KekRing, kms: Kms): Promise<void> {
  await assertKekOpens(system, keks);
  const [used, minimums] = await system.run(
    sql`select distinct kms, kek from palimpsest.sealed_credentials`,
    sql`select ${leastKek(kms.name)} as credentials, ${leastKek(personalDataKeysMinimum)} as "personalDataKeys"`,
  );
  for (const row of used?.rows ?? []) {
    const used = usedRow.parse(row);
    if (!(await kms.has(used))) {
      throw new StartupError(
        `Sealed credentials need the key encryption key ${used.kms} ${used.kek}, which is not there.`,
      );
    }
  }
  const least = minimumRow.parse(minimums?.rows[0]);
  const current = await kms.current();
  if (current < least.credentials) throw tooEarly(kms.name, least.credentials);
  if (keks.current.number < least.personalDataKeys) throw tooEarly('PALIMPSEST_KEK', least.personalDataKeys);
}

const tooEarly = (name: string, least: number): StartupError =>
  new StartupError(`The key encryption key ${name} must be number ${least} or later: it was rotated.`);
