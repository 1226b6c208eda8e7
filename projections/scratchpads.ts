import { z } from 'zod';
import type { LedgerEvent, ScratchpadEvent } from '../src/domain/scratchpad/events.js';
import { metadataValues } from '../src/domain/thread/events.js';
import { stretch, type Stretch } from './page.js';
import type { Projection } from './projection.js';
import { all, first, type Rows } from './rows.js';
import { perRow, sql, type Sql } from './sql.js';

/** Rows come and go with the thread's slot (threads.ts); here is what happens to them in between. */
export const scratchpadRows: Projection<ScratchpadEvent | LedgerEvent>['on'] = {
  'scratchpad.updated': ({ scratchpadId, metadata }, { ownerId, at }) => sql`
    update scratchpads set metadata = ${metadata}, updated_at = greatest(updated_at, ${at}::timestamptz)
    where owner_id = ${ownerId} and id = ${scratchpadId}`,
  'scratchpad.content_set': ({ scratchpadId, revision }, { ownerId, at }) => sql`
    update scratchpads set content_revision = ${revision}, updated_at = greatest(updated_at, ${at}::timestamptz)
    where owner_id = ${ownerId} and id = ${scratchpadId}`,
  'scratchpad.content_cleared': ({ scratchpadId, revision }, { ownerId, at }) => sql`
    update scratchpads set content_revision = ${revision}, updated_at = greatest(updated_at, ${at}::timestamptz)
    where owner_id = ${ownerId} and id = ${scratchpadId}`,
  'scratchpad.entry_appended': ({ scratchpadId, index }, { ownerId, at }) =>
    perRow(counted, { owner_id: ownerId, id: scratchpadId, index, at }),
  'scratchpad.entries_cleared': ({ scratchpadId }, { ownerId, at }) => sql`
    update scratchpads set entry_count = 0, updated_at = greatest(updated_at, ${at}::timestamptz)
    where owner_id = ${ownerId} and id = ${scratchpadId}`,
};

/** Ledger events of concurrent writers are stored in any order; the count is the highest index. */
const counted = (rows: string): Sql => sql`
  update scratchpads
  set entry_count = greatest(entry_count, latest.index), updated_at = greatest(updated_at, latest.at)
  from (
    select owner_id, id, max(index) as index, max(at) as at
    from json_to_recordset(${rows}::json) as row (owner_id text, id text, index integer, at timestamptz)
    group by owner_id, id) latest
  where scratchpads.owner_id = latest.owner_id and scratchpads.id = latest.id`;

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

export const findScratchpad = async (db: Rows, ownerId: string, id: string) =>
  first(
    scratchpadRow,
    await db.rows(sql`select ${columns} from scratchpads where owner_id = ${ownerId} and id = ${id}`),
  );

export const findScratchpadOfThread = async (db: Rows, ownerId: string, threadId: string) =>
  first(
    scratchpadRow,
    await db.rows(sql`select ${columns} from scratchpads where owner_id = ${ownerId} and thread_id = ${threadId}`),
  );

export const listScratchpads = async (db: Rows, ownerId: string, page: Stretch) =>
  all(
    scratchpadRow,
    await db.rows(sql`select ${columns} from scratchpads where owner_id = ${ownerId} ${stretch(page)}`),
  );
