import { z } from 'zod';
import type { KeyEvent } from '../src/domain/key/events.js';
import { padRoles } from '../src/domain/kernel/roles.js';
import type { UserEvent } from '../src/domain/user/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projection } from './kit/projection.js';
import { all, type ReadDb } from './kit/read-db.js';
import { sql } from './kit/sql.js';

/** Keys that are not revoked. A revoked key leaves the list and stays in the audit trail. */
export const keys = projection<KeyEvent | UserEvent>({
  name: 'keys',
  schema: 'keys.sql',
  tables: ['keys', 'erased_key_owners'],
  on: {
    'key.created': (
      { keyId, workspaceId, name, display, scopes, expiresAt, pad, agentId },
      { ownerId, at, position },
    ) => sql`
      insert into keys (id, owner_id, workspace_id, name, display, scopes, created_at, expires_at, pad, agent_id, position)
      select ${keyId}, ${ownerId}, ${workspaceId}, ${name}, ${display}, ${scopes}, ${at}, ${expiresAt}, ${pad ?? null},
        ${agentId ?? null}, ${position}
      where not exists (select from erased_key_owners where owner_id = ${ownerId})
      on conflict (id) do nothing`,
    'key.revoked': ({ keyId }, { ownerId }) => sql`delete from keys where owner_id = ${ownerId} and id = ${keyId}`,
    'user.erased': ({ userId }) => [
      sql`delete from keys where owner_id = ${userId}`,
      sql`insert into erased_key_owners (owner_id) values (${userId}) on conflict do nothing`,
    ],
  },
});

const keyRow = z.object({
  id: z.string(),
  name: z.string(),
  display: z.string(),
  scopes: z.array(z.string()),
  workspaceId: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  pad: z.object({ scratchpadId: z.string(), role: z.enum(padRoles) }).nullable(),
  agentId: z.string().nullable(),
  position: z.string(),
});

/** `key_usage` is written behind by the API processes; it is no part of this read model. */
export const listKeys = async (db: ReadDb, ownerId: string, page: PageRequest) =>
  all(
    keyRow,
    await db.rows(sql`
      select * from (
        select k.id, k.name, k.display, k.scopes, k.workspace_id as "workspaceId", k.created_at as "createdAt",
          k.expires_at as "expiresAt", k.pad, k.agent_id as "agentId", u.last_used_at as "lastUsedAt", k.position
        from keys k left join key_usage u on u.key_id = k.id and u.owner_id = ${ownerId}
        where k.owner_id = ${ownerId}) as owned
      where true ${pageClause(page)}`),
  );

/** Ids of every working key of an owner, oldest first. */
export const keyIdsOf = async (db: ReadDb, ownerId: string): Promise<readonly string[]> =>
  all(
    z.object({ id: z.string() }),
    await db.rows(sql`select id from keys where owner_id = ${ownerId} order by position`),
  ).map(({ id }) => id);

/** Answers whether a key is listed: it was made, and is not revoked. */
export const isListedKey = async (db: ReadDb, ownerId: string, keyId: string): Promise<boolean> =>
  (await db.rows(sql`select from keys where owner_id = ${ownerId} and id = ${keyId}`)).length > 0;
