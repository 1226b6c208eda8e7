import { PAGE_BYTES } from '../../engine/limits.js';
import { EVENT_COLUMNS } from './rows.js';

/** The SQL of the store. `schema` is an escaped identifier. */
export const statements = (schema: string) => ({
  // The epoch is read under a lock that conflicts with the update by which a later writer begins its own. Arrays side by
  // side, rather than one function in the from clause, are a tenth less work.
  persist: `
    with mine as (select from ${schema}.writer where epoch = $1::bigint for key share)
    insert into ${schema}.events (${EVENT_COLUMNS})
    select unnest($2::bigint[]), unnest($3::text[]), unnest($4::bigint[]), unnest($5::uuid[]), unnest($6::text[]),
      unnest($7::boolean[]), unnest($8::bigint[]), unnest($9::bytea[]), unnest($10::bytea[])
    from mine`,

  // One event, without the arrays: who waits for a single append waits for all of this.
  persistOne: `
    insert into ${schema}.events (${EVENT_COLUMNS})
    select $2::bigint, $3::text, $4::bigint, $5::uuid, $6::text, $7::boolean, $8::bigint, $9::bytea, $10::bytea
    from ${schema}.writer where epoch = $1::bigint for key share`,

  heads: `
    select greatest(
        (select revision from ${schema}.events where stream = name order by revision desc limit 1),
        (select revision from ${schema}.lasts where stream = name)),
      meta.revision, meta.data
    from unnest($1::text[]) with ordinality names (name, place)
    left join lateral (
      select revision, data from ${schema}.events where stream = '$$' || name order by revision desc limit 1
    ) meta on true
    order by place`,

  streamForwards: page(schema, 'revision', '>=', 'asc', 'stream = $3 and'),
  streamBackwards: page(schema, 'revision', '<=', 'desc', 'stream = $3 and'),
  allForwards: page(schema, 'position', '>=', 'asc', ''),
  allBackwards: page(schema, 'position', '<=', 'desc', ''),

  maxPosition: `
    select greatest(
      (select position from ${schema}.events order by position desc limit 1),
      (select position from ${schema}.progress), 0)`,

  truncatable: `
    select distinct owner from (
      select substr(stream, 3) owner from ${schema}.events where stream >= '$$' and stream < '$%'
      union all
      select stream from ${schema}.events where revision = 9223372036854775807
    ) owners where owner > $1::text order by 1 limit $2`,

  remove: `
    with gone as (
      delete from ${schema}.events where position in (
        select position from ${schema}.events
        where stream = $1 and revision < 9223372036854775807 and (revision < $2::bigint or created < $3::bigint)
        order by revision limit 5000
      )
      returning revision, position
    ), kept as (
      insert into ${schema}.lasts as lasts (stream, revision) select $1, max(revision) from gone having count(*) > 0
      on conflict (stream) do update set revision = greatest(lasts.revision, excluded.revision)
    ), reached as (
      insert into ${schema}.progress as progress (position) select max(position) from gone having count(*) > 0
      on conflict (one) do update set position = greatest(progress.position, excluded.position)
    )
    select count(*) from gone`,
});

/** A page ends after `limit` events, or before the one that would make it too large for memory. */
const page = (schema: string, key: string, compare: string, order: string, and: string): string => `
  select ${EVENT_COLUMNS} from (
    select *, sum(octet_length(data) + octet_length(metadata)) over w as total, row_number() over w as place
    from (select * from ${schema}.events where ${and} ${key} ${compare} $1::bigint order by ${key} ${order} limit $2) found
    window w as (order by ${key} ${order} rows unbounded preceding)
  ) sized
  where total <= ${PAGE_BYTES} or place = 1
  order by ${key} ${order}`;
