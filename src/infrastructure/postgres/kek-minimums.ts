import { sql, type Sql } from '../../../projections/kit/sql.js';
import type { Statements } from './database.js';
import { lockNumbers } from './locks.js';

/** Row of the least KEK that may wrap owners' data keys, beside the rows of the KMSs that wrap credentials. */
export const personalDataKeysMinimum = 'subject keys';

const [space, number] = lockNumbers.kekMinimums;

/**
 * Goes before a statement that stores what was wrapped, in its transaction: no minimum is raised until that is committed,
 * and one that was raised is seen by the statement.
 */
export const holdMinimums: Sql = sql`select pg_advisory_xact_lock_shared(${space}, ${number})`;

/** The least KEK that may be used, for a condition; 0 before the first rotation. */
export const leastKek = (of: string | Sql): Sql => sql`
  coalesce((select minimum from palimpsest.kek_minimums least where least.kms = ${of}), 0)`;

/** Forbids earlier KEKs. Once it has returned, whatever they wrapped is committed, and they wrap nothing more. */
export async function raiseMinimums(system: Statements, minimums: ReadonlyMap<string, number>): Promise<void> {
  await system.run(
    sql`select pg_advisory_xact_lock(${space}, ${number})`,
    ...[...minimums].map(
      ([name, minimum]) => sql`
        insert into palimpsest.kek_minimums (kms, minimum) values (${name}, ${minimum})
        on conflict (kms) do update set minimum = greatest(kek_minimums.minimum, excluded.minimum)`,
    ),
  );
}
