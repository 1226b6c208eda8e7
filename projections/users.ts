import { z } from 'zod';
import { roles } from '../src/domain/kernel/roles.js';
import type { UserEvent } from '../src/domain/user/events.js';
import { projectionPart } from './kit/projection.js';
import { first, type ReadDb } from './kit/read-db.js';
import { sql } from './kit/sql.js';

export const users = projectionPart<UserEvent>({
  schema: 'users.sql',
  tables: ['users'],
  on: {
    'user.created': ({ userId, name, role, workspaceId }, { at }) => sql`
      insert into users (id, owner_id, name, role, workspace_id, created_at)
      values (${userId}, ${userId}, ${name}, ${role}, ${workspaceId}, ${at}) on conflict (id) do nothing`,
    'user.erased': ({ userId }) => sql`delete from users where id = ${userId}`,
  },
});

const userRow = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  workspaceId: z.string(),
  createdAt: z.string(),
});

export const findUser = async (db: ReadDb, ownerId: string) =>
  first(
    userRow,
    await db.rows(sql`
      select id, name, role, workspace_id as "workspaceId", created_at as "createdAt"
      from users where owner_id = ${ownerId} and id = ${ownerId}`),
  );
