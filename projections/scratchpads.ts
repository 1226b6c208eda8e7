import { z } from 'zod';
import type { LedgerEvent, ScratchpadEvent } from '../src/domain/scratchpad/events.js';
import { metadataValues } from '../src/domain/kernel/metadata-values.js';
import { pageClause, type PageRequest } from './kit/page.js';
import type { Projection } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { perRow, sql, type Sql } from './kit/sql.js';

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
  'scratchpad.entry_appended': ({ scratchpadId, index, clears = 0 }, { ownerId, at }) =>
    perRow(counted, { owner_id: ownerId, id: scratchpadId, clears, index, at }),
  'scratchpad.entries_cleared': ({ scratchpadId, clears = null }, { ownerId, at }) => sql`
    update scratchpads
    set clears = coalesce(${clears}, clears + 1), told = '{}', gaps = '{}', missing = 0, entry_count = 0,
      updated_at = greatest(updated_at, ${at}::timestamptz)
    where owner_id = ${ownerId} and id = ${scratchpadId} and clears < coalesce(${clears}, clears + 1)`,
  'scratchpad.entries_lost': ({ scratchpadId, clears, from, to }, { ownerId }) =>
    withGap({ ownerId, scratchpadId, clears, from, to }),
  'scratchpad.entry_repeated': ({ scratchpadId, clears, index }, { ownerId }) =>
    withGap({ ownerId, scratchpadId, clears, from: index, to: index }),
};

/**
 * Ledger events of concurrent writers are stored in any order, and some twice: what counts is the highest index of the
 * latest era.
 */
const counted = (rows: string): Sql => sql`
  update scratchpads
  set clears = latest.clears,
    told = case when latest.clears > scratchpads.clears then latest.told else scratchpads.told + latest.told end,
    gaps = case when latest.clears > scratchpads.clears then '{}' else gaps end,
    missing = case when latest.clears > scratchpads.clears then 0 else missing end,
    entry_count = case when latest.clears > scratchpads.clears then upper(latest.told) - 1
      else upper(scratchpads.told + latest.told) - 1 - missing end,
    updated_at = greatest(updated_at, latest.at)
  from (
    select distinct on (owner_id, id) owner_id, id, clears, max(at) as at, range_agg(int4range(index, index, '[]')) as told
    from json_to_recordset(${rows}::json) as row (owner_id text, id text, clears integer, index integer, at timestamptz)
    group by owner_id, id, clears
    order by owner_id, id, clears desc) latest
  where scratchpads.owner_id = latest.owner_id and scratchpads.id = latest.id and scratchpads.clears <= latest.clears`;

interface Gap {
  readonly ownerId: string;
  readonly scratchpadId: string;
  readonly clears: number;
  readonly from: number;
  readonly to: number;
}

/** Indexes that hold no entry any more are not counted; told twice, they are so once. */
const withGap = ({ ownerId, scratchpadId, clears, from, to }: Gap): Sql => sql`
  with known as (
    select case when clears = ${clears} then told else '{}' end as told, case when clears = ${clears} then gaps else '{}' end as gaps
    from scratchpads where owner_id = ${ownerId} and id = ${scratchpadId} and clears <= ${clears}),
  changed as (
    select told + int4multirange(int4range(${from}, ${to}, '[]')) as told,
      gaps + int4multirange(int4range(${from}, ${to}, '[]')) as gaps from known),
  measured as (
    select changed.*, (select coalesce(sum(upper(gap) - lower(gap)), 0) from unnest(changed.gaps) as gap) as missing from changed)
  update scratchpads
  set clears = ${clears}, told = measured.told, gaps = measured.gaps, missing = measured.missing,
    entry_count = upper(measured.told) - 1 - measured.missing
  from measured where owner_id = ${ownerId} and id = ${scratchpadId}`;

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

/** The entries of a ledger up to an index, in the era after so many clears. */
export interface LedgerExtent {
  readonly ownerId: string;
  readonly scratchpadId: string;
  readonly generation: number;
  readonly length: number;
}

const toldRow = z.object({ id: z.string(), highest: z.number() });

/**
 * Of these ledgers, by id, the ones of which every index up to there was told of, with the highest that was. What is told
 * lately may be missing: then a ledger is too.
 */
export const findFullyCovered = async (
  db: ReadDb,
  ledgers: readonly LedgerExtent[],
): Promise<ReadonlyMap<string, number>> => {
  const asked = ledgers.map(({ ownerId, scratchpadId, generation: clears, length }) => ({
    ...{ owner_id: ownerId, id: scratchpadId, clears, length },
  }));
  const rows = await db.rows(sql`
    select id, coalesce(upper(told) - 1, 0) as highest from scratchpads
    join json_to_recordset(${JSON.stringify(asked)}::json) as asked (owner_id text, id text, clears integer, length integer)
      using (owner_id, id, clears)
    where told @> int4range(1, asked.length + 1)`);
  return new Map(all(toldRow, rows).map(({ id, highest }) => [id, highest]));
};
