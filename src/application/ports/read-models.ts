import type { ReadDb } from '../../../projections/kit/read-db.js';

export type { ReadDb };

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
