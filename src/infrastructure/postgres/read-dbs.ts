import { sql, type Sql } from '../../../projections/kit/sql.js';
import type { ReadDb, ReadDbs } from '../../application/ports/read-models.js';
import type { Database, Statements } from './database.js';
import { StatementFailed, type Outcome } from './pipeline.js';
import { tenantSetting } from './tenancy.js';

/**
 * Reads the read models. The tenant is set and the query run in one transaction and one round trip. Invariant: the setting
 * ends with the transaction, so no connection carries a tenant to its next borrower.
 */
export function makeReadDbs({ app, system }: Pick<Database, 'app' | 'system'>): ReadDbs {
  const readOnly = sql`select set_config('transaction_read_only', 'on', true)`;
  return {
    for: (ownerId) => reads(app, sql`select set_config(${tenantSetting}, ${ownerId}, true)`),
    system: reads(system, readOnly),
  };
}

/** A read model was rebuilt with other columns: what the connection had prepared no longer fits. */
const planIsStale = '0A000';

const reads = (statements: Statements, before: Sql): ReadDb => ({
  async rows(query) {
    const run = () => statements.run(before, query);
    const outcomes = await run().catch((fault: unknown) => {
      // The connection that had it prepared is gone with the fault; reading again is harmless.
      if (fault instanceof StatementFailed && fault.code === planIsStale) return run();
      throw fault;
    });
    return rowsOf(outcomes);
  },
});

const rowsOf = (outcomes: readonly Outcome[]): Outcome['rows'] => outcomes[1]?.rows ?? [];
