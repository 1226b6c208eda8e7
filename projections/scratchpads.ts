import { z } from 'zod';
import type { ScratchpadEvent } from '../src/domain/scratchpad/events.js';
import { metadataValues } from '../src/domain/kernel/metadata-values.js';
import type { ThreadEvent } from '../src/domain/thread/events.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projectionPart } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { sql } from './kit/sql.js';

type SlotEvent = Extract<ThreadEvent, { type: `thread.scratchpad_${string}` }>;

/** The whole life of a scratchpad's row but for what is counted of its ledger (ledgers.ts). */
export const scratchpads = projectionPart<SlotEvent | ScratchpadEvent>({
  schema: 'scratchpads.sql',
  tables: ['scratchpads'],
  on: {
    // Nothing is shown for an owner who was erased meanwhile: then there is no thread.
    'thread.scratchpad_attached': ({ threadId, scratchpadId }, { ownerId, at, position }) => sql`
      insert into scratchpads (id, owner_id, thread_id, metadata, content_revision, created_at, updated_at, position)
      select ${scratchpadId}, owner_id, id, '{}', 0, ${at}, ${at}, ${position}
      from threads where owner_id = ${ownerId} and id = ${threadId} on conflict (id) do nothing`,
    'scratchpad.updated': ({ scratchpadId, metadata }, { ownerId, at }) => sql`
      update scratchpads set metadata = ${metadata}, updated_at = greatest(updated_at, ${at}::timestamptz)
      where owner_id = ${ownerId} and id = ${scratchpadId}`,
    'scratchpad.content_set': ({ scratchpadId, revision }, { ownerId, at }) => sql`
      update scratchpads set content_revision = ${revision}, updated_at = greatest(updated_at, ${at}::timestamptz)
      where owner_id = ${ownerId} and id = ${scratchpadId}`,
    'scratchpad.content_cleared': ({ scratchpadId, revision }, { ownerId, at }) => sql`
      update scratchpads set content_revision = ${revision}, updated_at = greatest(updated_at, ${at}::timestamptz)
      where owner_id = ${ownerId} and id = ${scratchpadId}`,
    'thread.scratchpad_detached': ({ scratchpadId }, { ownerId }) => sql`
      delete from scratchpads where owner_id = ${ownerId} and id = ${scratchpadId}`,
  },
});

const scratchpadRow = z.object({
  id: z.string(),
  threadId: z.string(),
  ownerId: z.string(),
  metadata: metadataValues,
  contentRevision: z.number(),
  entryCount: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  position: z.string(),
});

const columns = sql`id, thread_id as "threadId", owner_id as "ownerId", metadata, content_revision as "contentRevision",
  entry_count as "entryCount", created_at as "createdAt", updated_at as "updatedAt", position`;

export const findScratchpad = async (db: ReadDb, ownerId: string, id: string) =>
  first(
    scratchpadRow,
    await db.rows(sql`select ${columns} from scratchpads where owner_id = ${ownerId} and id = ${id}`),
  );

export const findScratchpadOfThread = async (db: ReadDb, ownerId: string, threadId: string) =>
  first(
    scratchpadRow,
    await db.rows(sql`select ${columns} from scratchpads where owner_id = ${ownerId} and thread_id = ${threadId}`),
  );

export const listScratchpads = async (db: ReadDb, ownerId: string, page: PageRequest) =>
  all(
    scratchpadRow,
    await db.rows(sql`select ${columns} from scratchpads where owner_id = ${ownerId} ${pageClause(page)}`),
  );

const ownedRow = z.object({ ownerId: z.string(), id: z.string(), position: z.string() });

/** Every scratchpad of every owner, for the system's own work, page by page. */
export const listEveryScratchpad = async (db: ReadDb, after: z.output<typeof ownedRow> | undefined, limit: number) =>
  all(
    ownedRow,
    await db.rows(sql`
      select owner_id as "ownerId", id, position from scratchpads
      where (owner_id, position) > (${after?.ownerId ?? ''}, ${after?.position ?? '-1'}::bigint)
      order by owner_id, position limit ${limit}`),
  );
