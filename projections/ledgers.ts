import { z } from 'zod';
import type { LedgerEvent } from '../src/domain/scratchpad/events.js';
import type { LedgerExtent } from '../src/domain/scratchpad/ledger-list.js';
import { projectionPart } from './kit/projection.js';
import { all, type ReadDb } from './kit/read-db.js';
import { perRow, sql, type Sql } from './kit/sql.js';

/** Counts the entries of each ledger, in columns of the scratchpads' rows. The events' field `clears` is the generation. */
export const ledgers = projectionPart<LedgerEvent>({
  schema: 'ledgers.sql',
  tables: [],
  on: {
    'scratchpad.entry_appended': ({ scratchpadId, index, clears: generation = 0 }, { ownerId, at }) =>
      perRow(counted, { owner_id: ownerId, id: scratchpadId, generation, index, at }),
    'scratchpad.entries_cleared': ({ scratchpadId, clears: generation = null }, { ownerId, at }) => sql`
      update scratchpads
      set generation = coalesce(${generation}, generation + 1), covered = '{}', holes = '{}', hole_count = 0,
        entry_count = 0, updated_at = greatest(updated_at, ${at}::timestamptz)
      where owner_id = ${ownerId} and id = ${scratchpadId} and generation < coalesce(${generation}, generation + 1)`,
    'scratchpad.entries_lost': ({ scratchpadId, clears: generation, from, to }, { ownerId }) =>
      withHole({ ownerId, scratchpadId, generation, from, to }),
    'scratchpad.entry_repeated': ({ scratchpadId, clears: generation, index }, { ownerId }) =>
      withHole({ ownerId, scratchpadId, generation, from: index, to: index }),
  },
});

/**
 * Covers the indexes of appended entries; the count is the highest index of the latest generation without its holes.
 * Why: ledger events of concurrent writers are stored in any order, and some twice.
 */
const counted = (rows: string): Sql => sql`
  update scratchpads
  set generation = latest.generation,
    covered = case when latest.generation > scratchpads.generation then latest.covered
      else scratchpads.covered + latest.covered end,
    holes = case when latest.generation > scratchpads.generation then '{}' else holes end,
    hole_count = case when latest.generation > scratchpads.generation then 0 else hole_count end,
    entry_count = case when latest.generation > scratchpads.generation then upper(latest.covered) - 1
      else upper(scratchpads.covered + latest.covered) - 1 - hole_count end,
    updated_at = greatest(updated_at, latest.at)
  from (
    select distinct on (owner_id, id) owner_id, id, generation, max(at) as at,
      range_agg(int4range(index, index, '[]')) as covered
    from json_to_recordset(${rows}::json) as row (owner_id text, id text, generation integer, index integer, at timestamptz)
    group by owner_id, id, generation
    order by owner_id, id, generation desc) latest
  where scratchpads.owner_id = latest.owner_id and scratchpads.id = latest.id
    and scratchpads.generation <= latest.generation`;

interface Hole {
  readonly ownerId: string;
  readonly scratchpadId: string;
  readonly generation: number;
  readonly from: number;
  readonly to: number;
}

/** Covers indexes that hold no entry any more, so that they are not counted. Invariant: a hole recorded twice counts once. */
const withHole = ({ ownerId, scratchpadId, generation, from, to }: Hole): Sql => sql`
  with known as (
    select case when generation = ${generation} then covered else '{}' end as covered,
      case when generation = ${generation} then holes else '{}' end as holes
    from scratchpads where owner_id = ${ownerId} and id = ${scratchpadId} and generation <= ${generation}),
  changed as (
    select covered + int4multirange(int4range(${from}, ${to}, '[]')) as covered,
      holes + int4multirange(int4range(${from}, ${to}, '[]')) as holes from known),
  measured as (
    select changed.*, (select coalesce(sum(upper(hole) - lower(hole)), 0) from unnest(changed.holes) as hole) as hole_count
    from changed)
  update scratchpads
  set generation = ${generation}, covered = measured.covered, holes = measured.holes, hole_count = measured.hole_count,
    entry_count = upper(measured.covered) - 1 - measured.hole_count
  from measured where owner_id = ${ownerId} and id = ${scratchpadId}`;

/** The entries of a ledger up to an index, in one generation. */
export interface OwnedLedgerExtent extends LedgerExtent {
  readonly ownerId: string;
  readonly scratchpadId: string;
}

const coveredRow = z.object({ id: z.string(), highest: z.number() });

/**
 * The highest covered index, by id, of those of the ledgers that are covered up to their length.
 * Fails when: the read model is behind → the ledger is absent from the answer.
 */
export const findFullyCovered = async (
  db: ReadDb,
  extents: readonly OwnedLedgerExtent[],
): Promise<ReadonlyMap<string, number>> => {
  const asked = extents.map(({ ownerId, scratchpadId, generation, length }) => ({
    owner_id: ownerId,
    id: scratchpadId,
    generation,
    length,
  }));
  const rows = await db.rows(sql`
    select id, coalesce(upper(covered) - 1, 0) as highest from scratchpads
    join json_to_recordset(${JSON.stringify(asked)}::json)
      as asked (owner_id text, id text, generation integer, length integer) using (owner_id, id, generation)
    where covered @> int4range(1, asked.length + 1)`);
  return new Map(all(coveredRow, rows).map(({ id, highest }) => [id, highest]));
};
