import { escapeIdentifier, Pool, type QueryArrayConfig } from 'pg';
import { TOMBSTONE_DIGITS, TOMBSTONE_REVISION, type StoredEvent } from '../../engine/events.js';

import type { ReadRange, Removal, Store, StoredHead } from '../storage.js';
import { boolArray, bytesArray, int8Array, Oid, textArray, uuidArray } from './binary-array.js';
import { bytesOf, eventOf, revisionOf, verbatim, type EventRow } from './rows.js';
import { migrate } from './schema.js';
import { takeSeat, type Seat } from './seat.js';
import { statements } from './statements.js';

export interface PostgresOptions {
  readonly databaseUrl: string;
  readonly schema: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
}

/** Everything is looked up by key, and planning that anew each time costs more than doing it. */
const planByKey = `select set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false)`;

/** Opens the store, making its schema unless it is there. */
export async function postgresStore(options: PostgresOptions): Promise<Store> {
  const pool = new Pool({
    connectionString: options.databaseUrl,
    application_name: options.name,
    max: 4,
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
    keepAlive: true,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not say so
    onConnect: (client) => client.query(planByKey),
  });
  pool.on('error', () => undefined); // an idle connection broke; the next query takes another
  const client = await pool.connect();
  try {
    await migrate(client, options.schema);
  } finally {
    client.release();
  }
  return new PostgresStore(pool, options);
}

class PostgresStore implements Store {
  private readonly sql;
  private seat: Seat | undefined;
  private previous: number | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly options: PostgresOptions,
  ) {
    this.sql = statements(escapeIdentifier(options.schema));
  }

  async heads(streams: readonly string[]): Promise<StoredHead[]> {
    const rows = await this.rows<HeadRow>('heads', this.sql.heads, [textArray(streams)]);
    return rows.map(headOf);
  }

  async persist(events: readonly StoredEvent[]): Promise<void> {
    if (!this.seat) throw new Error('this process is not the writer');
    const [event] = events;
    const statement =
      event && events.length === 1
        ? { name: 'persist-one', text: this.sql.persistOne, values: [this.seat.epoch, ...valuesOf(event)] }
        : { name: 'persist', text: this.sql.persist, values: [this.seat.epoch, ...columnsOf(events)] };
    const { rowCount } = await this.seat.client.query(statement);
    if (rowCount !== events.length) throw new Error('another process has become the writer');
  }

  async readStream(stream: string, range: ReadRange): Promise<StoredEvent[]> {
    const text = range.backwards ? this.sql.streamBackwards : this.sql.streamForwards;
    const name = range.backwards ? 'stream-backwards' : 'stream-forwards';
    const rows = await this.rows<EventRow>(name, text, [range.from, range.limit, stream]);
    return rows.map(eventOf);
  }

  async readAll(range: ReadRange): Promise<StoredEvent[]> {
    const text = range.backwards ? this.sql.allBackwards : this.sql.allForwards;
    const rows = await this.rows<EventRow>(range.backwards ? 'all-backwards' : 'all-forwards', text, [
      range.from,
      range.limit,
    ]);
    return rows.map(eventOf);
  }

  async maxPosition(): Promise<number> {
    const rows = await this.rows<[string]>('max-position', this.sql.maxPosition, []);
    return Number(rows[0]?.[0] ?? 0);
  }

  async claim(signal: AbortSignal, onWait: () => void): Promise<{ readonly lost: Promise<unknown> }> {
    const schema = escapeIdentifier(this.options.schema);
    const options = { ...this.options, schemaName: this.options.schema, schema, onWait };
    this.seat = await takeSeat(options, this.previous, signal);
    // The driver knows the server's process id but does not declare it.
    this.previous = (this.seat.client as unknown as { processID?: number }).processID;
    return { lost: this.seat.lost };
  }

  async release(): Promise<void> {
    const { seat } = this;
    this.seat = undefined;
    await seat?.client.end();
  }

  async truncatable(after: string, limit: number): Promise<string[]> {
    const rows = await this.rows<[string]>('truncatable', this.sql.truncatable, [after, limit]);
    return rows.map(([stream]) => stream);
  }

  async remove({ stream, below, createdBefore }: Removal): Promise<number> {
    const limit = below >= 2 ** 63 ? TOMBSTONE_DIGITS : String(below);
    const rows = await this.rows<[string]>('remove', this.sql.remove, [stream, limit, createdBefore ?? 0]);
    return Number(rows[0]?.[0] ?? 0);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async rows<Row extends readonly unknown[]>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const query: QueryArrayConfig = { name, text, values, rowMode: 'array', types: verbatim };
    // The statements and the row types are written side by side; the driver cannot relate them.
    return (await this.pool.query(query)).rows as unknown as Row[];
  }
}

type HeadRow = readonly [last: string | null, metaLast: string | null, metadata: string | null];

const headOf = ([last, metaLast, metadata]: HeadRow): StoredHead => ({
  last: last === null || last === TOMBSTONE_DIGITS ? -1 : revisionOf(last),
  tombstoned: last === TOMBSTONE_DIGITS,
  metaLast: metaLast === null ? -1 : Number(metaLast),
  metadata: metadata === null ? undefined : bytesOf(metadata),
});

const valuesOf = ({ position, stream, revision, id, type, json, created, data, metadata }: StoredEvent): unknown[] => [
  position,
  stream,
  revision === TOMBSTONE_REVISION ? TOMBSTONE_DIGITS : revision,
  Buffer.from(id, 'latin1'),
  type,
  json,
  created,
  data,
  metadata,
];

const columnsOf = (events: readonly StoredEvent[]): Buffer[] => [
  int8Array(events.map((event) => event.position)),
  textArray(events.map((event) => event.stream)),
  int8Array(events.map((event) => event.revision)),
  uuidArray(events.map((event) => event.id)),
  textArray(events.map((event) => event.type)),
  boolArray(events.map((event) => event.json)),
  int8Array(events.map((event) => event.created)),
  bytesArray(
    Oid.bytea,
    events.map((event) => event.data),
  ),
  bytesArray(
    Oid.bytea,
    events.map((event) => event.metadata),
  ),
];
