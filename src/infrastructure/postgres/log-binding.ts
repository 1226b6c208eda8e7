import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import type { LogBinding } from '../../application/ports/log-binding.js';
import type { Statements } from './database.js';

const boundRow = z.object({ logId: z.string().nullable(), position: z.coerce.bigint() });

/** Postgres has seen the log as far as its read models have followed it, or further. */
export const makeLogBinding = (system: Statements): LogBinding => ({
  backend: 'postgres',

  async read() {
    const [outcome] = await system.run(sql`
      select (select log_id from palimpsest.log_binding) as "logId", greatest(
        (select position from palimpsest.log_binding), (select max(position) from palimpsest.projections), -1) as position`);
    const { logId, position } = boundRow.parse(outcome?.rows[0]);
    return { logId: logId ?? undefined, position };
  },

  async note(logId, position) {
    await system.run(sql`
      insert into palimpsest.log_binding as bound (log_id, position) values (${logId}, ${position})
      on conflict (only_row) do update set position = excluded.position
      where bound.log_id = excluded.log_id and bound.position < excluded.position`);
  },

  /** Read models are built again from the start, and snapshots, which are of other streams, are dropped. */
  async adopt(logId, position) {
    await system.run(
      sql`insert into palimpsest.log_binding as bound (log_id, position) values (${logId}, ${position})
        on conflict (only_row) do update set log_id = excluded.log_id, position = excluded.position`,
      sql`update palimpsest.projections set form = '', position = -1`,
      sql`delete from palimpsest.parked_streams`,
      sql`delete from palimpsest.parked_reactions`,
      sql`delete from palimpsest.reaction_checkpoints`,
      sql`delete from palimpsest.snapshots`,
    );
  },
});
