import type { Sql } from '../../../projections/kit/sql.js';

/** Rows of the read models, as one tenant sees them (row-level security stands behind every query). */
export interface ReadDb {
  rows<Row extends Record<string, unknown>>(query: Sql): Promise<readonly Row[]>;
}

export interface ReadDbs {
  /** Reads as one tenant: other owners' rows do not exist. */
  for(ownerId: string): ReadDb;
  /** Reads across tenants, for auditors and the system's own work. Never handed to an operation without that role. */
  readonly system: ReadDb;
}

/** How far the read models are: the position up to which every event is in rows. */
export interface Watermark {
  /** True once the read models show `position`; false when `timeoutMs` passed first. */
  waitFor(position: bigint, timeoutMs: number): Promise<boolean>;
}
