import { z } from 'zod';
import { metadataValues } from '../src/domain/kernel/metadata-values.js';
import type { ThreadEvent } from '../src/domain/thread/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projectionPart } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { sql } from './kit/sql.js';

export const threads = projectionPart<Extract<ThreadEvent, { type: `thread.${string}` }>>({
  schema: 'threads.sql',
  tables: ['threads'],
  on: {
    // Nothing is shown for an owner who was erased meanwhile.
    'thread.created': ({ threadId, title, metadata }, { ownerId, at, position }) => sql`
      insert into threads (id, owner_id, title, metadata, created_at, updated_at, position)
      select ${threadId}, id, ${title}, ${metadata}, ${at}, ${at}, ${position}
      from users where id = ${ownerId} on conflict (id) do nothing`,
    'thread.updated': ({ threadId, title, metadata }, { ownerId, at }) => sql`
      update threads set title = case when ${title !== undefined} then ${title ?? null} else title end,
        metadata = coalesce(${metadata ?? null}, metadata), updated_at = ${at}
      where owner_id = ${ownerId} and id = ${threadId}`,
    'thread.scratchpad_attached': ({ threadId, scratchpadId }, { ownerId, at }) => sql`
      update threads set scratchpad_id = ${scratchpadId}, updated_at = ${at}
      where owner_id = ${ownerId} and id = ${threadId}`,
    'thread.scratchpad_detached': ({ threadId }, { ownerId, at }) => sql`
      update threads set scratchpad_id = null, updated_at = ${at} where owner_id = ${ownerId} and id = ${threadId}`,
    'thread.deleted': ({ threadId }, { ownerId }) => sql`
      delete from threads where owner_id = ${ownerId} and id = ${threadId}`,
  },
});

const threadRow = z.object({
  id: z.string(),
  title: z.string().nullable(),
  metadata: metadataValues,
  ownerId: z.string(),
  scratchpadId: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  position: z.string(),
});

const columns = sql`id, title, metadata, owner_id as "ownerId", scratchpad_id as "scratchpadId",
  created_at as "createdAt", updated_at as "updatedAt", position`;

export const findThread = async (db: ReadDb, ownerId: string, id: string) =>
  first(threadRow, await db.rows(sql`select ${columns} from threads where owner_id = ${ownerId} and id = ${id}`));

export const listThreads = async (db: ReadDb, ownerId: string, page: PageRequest) =>
  all(threadRow, await db.rows(sql`select ${columns} from threads where owner_id = ${ownerId} ${pageClause(page)}`));
