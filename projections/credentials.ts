import { z } from 'zod';
import type { AgentEvent } from '../src/domain/agent/events.js';
import type { CredentialEvent } from '../src/domain/credential/events.js';
import type { UserEvent } from '../src/domain/user/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projection } from './kit/projection.js';
import { all, type ReadDb } from './kit/read-db.js';
import { perRow, sql } from './kit/sql.js';

/** Lists which provider credentials exist, and since when. Their values are in the vault only. */
export const credentials = projection<AgentEvent | CredentialEvent | UserEvent>({
  name: 'credentials',
  schema: 'credentials.sql',
  tables: ['credentials', 'erased_credential_owners'],
  on: {
    'agent.enrolled': ({ credentialMode, credentialId, provider }, { ownerId, at, position }) =>
      credentialMode === 'reference'
        ? []
        : perRow(taken, { id: credentialId, owner_id: ownerId, provider, at, position: String(position) }),
    'credential.deleted': ({ credentialId, upTo }, { ownerId }) => sql`
      delete from credentials where owner_id = ${ownerId} and id = ${credentialId} and latest <= ${upTo}::bigint`,
    'user.erased': ({ userId }) => [
      sql`delete from credentials where owner_id = ${userId}`,
      sql`insert into erased_credential_owners (owner_id) values (${userId}) on conflict do nothing`,
    ],
  },
});

/** Records an enrollment. Invariant: of several for one credential the last counts; the first sets its creation time. */
const taken = (rows: string) => sql`
  insert into credentials (id, owner_id, provider, created_at, rotated_at, latest, position)
  select id, min(owner_id), min(provider), (array_agg(at order by position))[1],
    case when count(*) > 1 then (array_agg(at order by position desc))[1] end, max(position), min(position)
  from json_to_recordset(${rows}::json) as row (id text, owner_id text, provider text, at timestamptz, position bigint)
  where not exists (select from erased_credential_owners erased where erased.owner_id = row.owner_id)
  group by id
  on conflict (id) do update set rotated_at = coalesce(excluded.rotated_at, excluded.created_at), latest = excluded.latest
  where credentials.latest < excluded.latest`;

const credentialRow = z.object({
  id: z.string(),
  provider: z.string(),
  mode: z.literal('intake'),
  type: z.literal('api_key'),
  createdAt: z.string(),
  rotatedAt: z.string().nullable(),
  usedBy: z.coerce.number(),
  position: z.string(),
});

export const listCredentials = async (db: ReadDb, ownerId: string, page: PageRequest) =>
  all(
    credentialRow,
    await db.rows(sql`
      select * from (
        select c.id, c.provider, 'intake' as mode, 'api_key' as type, c.created_at as "createdAt",
          c.rotated_at as "rotatedAt", c.position,
          (select count(*) from agents a where a.owner_id = ${ownerId} and a.provider = c.provider) as "usedBy"
        from credentials c where c.owner_id = ${ownerId}) as owned
      where true ${pageClause(page)}`),
  );
