import { z } from 'zod';
import type { UserEvent } from '../src/domain/user/events.js';
import type { WorkspaceEvent } from '../src/domain/workspace/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projection } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { sql } from './kit/sql.js';

export const workspaces = projection<WorkspaceEvent | UserEvent>({
  name: 'workspaces',
  schema: 'workspaces.sql',
  tables: ['workspaces', 'erased_members'],
  on: {
    'workspace.created': ({ workspaceId, name, ownerId }, { at, position }) => sql`
      insert into workspaces (owner_id, id, workspace_owner_id, name, created_at, position)
      select ${ownerId}, ${workspaceId}, ${ownerId}, ${name}, ${at}, ${position}
      where not exists (select from erased_members where owner_id = ${ownerId}) on conflict do nothing`,
    'workspace.member_added': ({ workspaceId, userId }, { ownerId, position }) => sql`
      insert into workspaces (owner_id, id, workspace_owner_id, name, created_at, position)
      select ${userId}, id, workspace_owner_id, name, created_at, ${position}
      from workspaces where owner_id = ${ownerId} and id = ${workspaceId}
        and not exists (select from erased_members where owner_id = ${userId}) on conflict do nothing`,
    'workspace.member_removed': ({ workspaceId, userId }) => sql`
      delete from workspaces where owner_id = ${userId} and id = ${workspaceId}`,
    'user.erased': ({ userId }) => [
      sql`delete from workspaces where owner_id = ${userId} or workspace_owner_id = ${userId}`,
      sql`insert into erased_members (owner_id) values (${userId}) on conflict do nothing`,
    ],
  },
});

const workspaceRow = z.object({
  id: z.string(),
  name: z.string(),
  ownerId: z.string(),
  createdAt: z.string(),
  position: z.string(),
});

const columns = sql`id, name, workspace_owner_id as "ownerId", created_at as "createdAt", position`;

export const findWorkspace = async (db: ReadDb, memberId: string, id: string) =>
  first(
    workspaceRow,
    await db.rows(sql`select ${columns} from workspaces where owner_id = ${memberId} and id = ${id}`),
  );

export const listWorkspaces = async (db: ReadDb, memberId: string, page: PageRequest) =>
  all(
    workspaceRow,
    await db.rows(sql`select ${columns} from workspaces where owner_id = ${memberId} ${pageClause(page)}`),
  );
