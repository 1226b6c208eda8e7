import { z } from 'zod';
import { sql } from '../../../projections/kit/sql.js';
import type { Snapshots } from '../../application/ports/snapshots.js';
import type { Statements } from './database.js';

const snapshotRow = z.object({
  ownerId: z.string(),
  revision: z.coerce.number(),
  version: z.number(),
  state: z.unknown(),
  keys: z.array(
    z.object({
      key: z.string(),
      operation: z.string(),
      digest: z.string(),
      actorId: z.string(),
      from: z.number(),
      count: z.number(),
    }),
  ),
});

/** Snapshots of long streams. They are only ever a shortcut: a lost one is folded again. */
export const makeSnapshots = (system: Statements): Snapshots => ({
  async load(stream) {
    const [outcome] = await system.run(sql`
      select owner_id as "ownerId", revision, version, state, keys from palimpsest.snapshots where stream = ${stream}`);
    const [row] = outcome?.rows ?? [];
    return row && snapshotRow.parse(row);
  },

  /** A process that is behind does not overwrite a later snapshot. */
  async save(stream, { ownerId, revision, version, state, keys }) {
    await system.run(sql`
      insert into palimpsest.snapshots as kept (stream, owner_id, revision, version, state, keys)
      values (${stream}, ${ownerId}, ${revision}, ${version}, ${JSON.stringify(state)}, ${JSON.stringify(keys)})
      on conflict (stream) do update set revision = excluded.revision, version = excluded.version,
        state = excluded.state, keys = excluded.keys, saved_at = now()
      where excluded.version <> kept.version or excluded.revision > kept.revision`);
  },
});
