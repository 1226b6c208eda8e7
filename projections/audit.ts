import { z } from 'zod';
import { metadataSchema } from '../src/domain/kernel/envelope.js';
import { pageClause, type PageRequest } from './kit/page.js';
import { projection } from './kit/projection.js';
import { all, first, type ReadDb } from './kit/read-db.js';
import { perRow, sql, type Sql } from './kit/sql.js';

/**
 * The audit trail, queryable: every event of every tenant once, in the order of the log, chained by hash per tenant.
 * `hash` is SHA-256 over the previous hash, the event's id, type, stream and revision, and the digest of its
 * canonical data and metadata, joined by `|`; the first event's previous hash is empty.
 */
export const audit = projection({
  name: 'audit',
  schema: 'audit.sql',
  tables: ['audit_events', 'audit_heads'],
  on: {},
  onEvery: ({ id, type, stream, revision, position, data, metadata, digest }) => {
    const { ownerId, actor, at, $correlationId, $causationId } = metadataSchema.parse(metadata);
    return perRow(chained, {
      owner_id: ownerId,
      position: String(position),
      stream,
      revision,
      type,
      event_id: id,
      actor,
      correlation_id: $correlationId,
      causation_id: $causationId ?? null,
      at,
      data,
      metadata,
      digest,
      item: [id, type, stream, revision, digest].join('|'),
    });
  },
});

/** Adds events to the trail and to their owner's hash chain. Invariant: an event stored twice under one id is shown once. */
const chained = (rows: string): Sql => sql`
  with arrived as (
    select distinct on (event_id) * from json_to_recordset(${rows}::json) as row (
      owner_id text, position bigint, stream text, revision bigint, type text, event_id uuid, actor jsonb,
      correlation_id text, causation_id text, at timestamptz, data jsonb, metadata jsonb, digest text, item text)
    order by event_id, position),
  fresh as (
    select * from arrived
    where not exists (select from audit_events kept where kept.event_id = arrived.event_id)),
  linked as (
    select fresh.*, palimpsest.chain(coalesce(heads.hash, ''), item) over (
      partition by owner_id order by position rows between unbounded preceding and current row) as hash
    from fresh left join audit_heads heads using (owner_id)),
  added as (
    insert into audit_events (owner_id, position, stream, revision, type, event_id, actor, correlation_id, causation_id,
      at, data, metadata, digest, hash)
    select owner_id, position, stream, revision, type, event_id, actor, correlation_id, causation_id,
      at, data, metadata, digest, hash from linked
    returning owner_id, position, hash)
  insert into audit_heads (owner_id, hash, events)
  select distinct on (owner_id) owner_id, hash, count(*) over (partition by owner_id) from added
  order by owner_id, position desc
  on conflict (owner_id) do update set hash = excluded.hash, events = audit_heads.events + excluded.events`;

const auditRow = z.object({
  position: z.string(),
  stream: z.string(),
  revision: z.string(),
  type: z.string(),
  id: z.string(),
  actor: z.record(z.string(), z.unknown()),
  ownerId: z.string(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  at: z.string(),
  data: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.unknown()),
  digest: z.string(),
  hash: z.string(),
});
export type AuditRow = z.output<typeof auditRow>;

const columns = sql`position, stream, revision, type, event_id as id, actor, owner_id as "ownerId",
  correlation_id as "correlationId", causation_id as "causationId", at, data, metadata, digest, hash`;

/** What of the audit trail is asked for. Without an owner: every tenant's (auditors only). */
export interface AuditFilter {
  readonly ownerId: string | undefined;
  readonly stream?: string | undefined;
  readonly type?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly actor?: string | undefined;
  /** Positions, inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const listAudit = async (db: ReadDb, filter: AuditFilter, page: PageRequest) =>
  all(auditRow, await db.rows(sql`select ${columns} from audit_events where ${matching(filter)} ${pageClause(page)}`));

/** The events of several streams of one owner, merged. Each stream's own stretch is found by its index. */
export const listAuditOf = async (db: ReadDb, ownerId: string, streams: readonly string[], page: PageRequest) => {
  const each = streams.map(
    (stream) =>
      sql`(select ${columns} from audit_events where owner_id = ${ownerId} and stream = ${stream} ${pageClause(page)})`,
  );
  const [begin, ...others] = each;
  if (!begin) return [];
  const union = others.reduce((together, one) => sql`${together} union all ${one}`, begin);
  return all(auditRow, await db.rows(sql`select * from (${union}) as each_stream where true ${pageClause(page)}`));
};

const headRow = z.object({ hash: z.string(), events: z.string() });

/** The end of an owner's hash chain; undefined while they have no events. */
export const findAuditHead = async (db: ReadDb, ownerId: string) =>
  first(headRow, await db.rows(sql`select hash, events from audit_heads where owner_id = ${ownerId}`));

/** The hash of the event at a position of an owner's chain. */
export const findAuditHash = async (db: ReadDb, ownerId: string, position: string) =>
  first(
    z.object({ hash: z.string() }),
    await db.rows(sql`select hash from audit_events where owner_id = ${ownerId} and position = ${position}::bigint`),
  )?.hash;

/** Does the trail hold every event up to a position of the log? Every event is in it, and they come in order. */
export const hasAudited = async (db: ReadDb, position: bigint): Promise<boolean> =>
  (await db.rows(sql`select from audit_events where position >= ${position} limit 1`)).length > 0;

const matching = ({ ownerId, stream, type, correlationId, actor, from, to }: AuditFilter): Sql =>
  [
    ownerId !== undefined && sql`owner_id = ${ownerId}`,
    stream !== undefined && sql`stream = ${stream}`,
    type !== undefined && sql`type = ${type}`,
    correlationId !== undefined && sql`correlation_id = ${correlationId}`,
    actor !== undefined && sql`(actor->>'id' = ${actor} or actor->>'agentId' = ${actor})`,
    from !== undefined && sql`position >= ${from}::bigint`,
    to !== undefined && sql`position <= ${to}::bigint`,
  ].reduce<Sql>((all, one) => (one === false ? all : sql`${all} and ${one}`), sql`true`);

const placeRow = z.object({ entryId: z.string(), index: z.number(), clears: z.number() });

/** The places at which entries of one ledger's stream were audited. */
export const findPlaces = async (db: ReadDb, stream: string, entryIds: readonly string[]) =>
  all(
    placeRow,
    await db.rows(sql`
      select data->>'entryId' as "entryId", (data->>'index')::integer as index,
        coalesce((data->>'clears')::integer, 0) as clears
      from audit_events
      where stream = ${stream} and type = 'scratchpad.entry_appended' and data->>'entryId' = any(${entryIds}::text[])`),
  );

const deletionRow = z.object({ ownerId: z.string(), scratchpadId: z.string() });

/** Scratchpads of any owner that were deleted since a time (RFC 3339). */
export const listDeletedScratchpads = async (db: ReadDb, since: string) =>
  all(
    deletionRow,
    await db.rows(sql`
      select owner_id as "ownerId", data->>'scratchpadId' as "scratchpadId"
      from audit_events where type = 'scratchpad.deleted' and at >= ${since}::timestamptz`),
  );
