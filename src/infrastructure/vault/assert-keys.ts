import { z } from 'zod';
import { sql } from '../../../projections/sql.js';
import { StartupError } from '../embedded/startup-error.js';
import type { Statements } from '../postgres/database.js';
import { assertKekOpens } from '../postgres/subject-keys.js';
import type { KekRing } from './kek-ring.js';
import type { Kms } from './kms.js';

const usedRow = z.object({ kms: z.string(), kek: z.coerce.number() });
const minimumRow = z.object({ minimum: z.coerce.number() });

/** Refuses a start without a KEK that something stored needs, or with one that may not be used any more. */
export async function assertKeysThere(system: Statements, keks: KekRing, kms: Kms): Promise<void> {
  await assertKekOpens(system, keks);
  const [used, minimum] = await system.run(
    sql`select distinct kms, kek from palimpsest.sealed_credentials`,
    sql`select minimum from palimpsest.kek_minimums where kms = ${kms.name}`,
  );
  for (const row of used?.rows ?? []) {
    const used = usedRow.parse(row);
    if (!(await kms.has(used))) {
      throw new StartupError(
        `Sealed credentials need the key encryption key ${used.kms} ${used.kek}, which is not there.`,
      );
    }
  }
  for (const row of minimum?.rows ?? []) {
    const least = minimumRow.parse(row).minimum;
    if ((await kms.current()) < least) {
      throw new StartupError(`The key encryption key ${kms.name} must be number ${least} or later: it was rotated.`);
    }
  }
}
