import { z } from 'zod';
import { messageRoles, type ThreadEvent } from '../src/domain/thread/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projectionPart } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { sql } from './kit/sql.js';

export const messages = projectionPart<Extract<ThreadEvent, { type: `message.${string}` }>>({
  schema: 'messages.sql',
  tables: ['messages'],
  on: {
    'message.appended': ({ threadId, messageId, index, role, content, author }, { ownerId, at, position }) => sql`
      insert into messages (id, owner_id, thread_id, index, role, content, author, created_at, position)
      select ${messageId}, owner_id, id, ${index}, ${role}, ${content}, ${author}, ${at}, ${position}
      from threads where owner_id = ${ownerId} and id = ${threadId} on conflict (id) do nothing`,
    'message.deleted': ({ messageId }, { ownerId }) => sql`
      delete from messages where owner_id = ${ownerId} and id = ${messageId}`,
  },
});

const messageRow = z.object({
  id: z.string(),
  threadId: z.string(),
  index: z.number(),
  role: z.enum(messageRoles),
  content: z.string(),
  author: z.object({ type: z.string(), id: z.string() }),
  createdAt: z.string(),
  position: z.string(),
});

const columns = sql`id, thread_id as "threadId", index, role, content, author, created_at as "createdAt", position`;

export const findMessage = async (db: ReadDb, ownerId: string, threadId: string, id: string) =>
  first(
    messageRow,
    await db.rows(
      sql`select ${columns} from messages where owner_id = ${ownerId} and thread_id = ${threadId} and id = ${id}`,
    ),
  );

export const listMessages = async (db: ReadDb, ownerId: string, threadId: string, page: PageRequest) =>
  all(
    messageRow,
    await db.rows(
      sql`select ${columns} from messages where owner_id = ${ownerId} and thread_id = ${threadId} ${pageClause(page)}`,
    ),
  );
