import { Client } from 'pg';
import { lockKey } from './schema.js';

const POLL = 200;
/** A database that takes longer is given up: the outcome is then found out with the next seat. */
const COMMIT_WITHIN = 30_000;

/** The session that holds the right to write: whoever has its advisory lock, in the newest epoch. */
export interface Seat {
  readonly client: Client;
  readonly epoch: string;
  readonly lost: Promise<unknown>;
}

export interface SeatOptions {
  readonly databaseUrl: string;
  /** Escaped, ready for SQL. */
  readonly schema: string;
  readonly schemaName: string;
  readonly name: string;
  readonly onWait: () => void;
}

/** Waits for the lock, then begins an epoch in which nobody of an earlier one can write any more. */
export async function takeSeat(options: SeatOptions, previous: number | undefined, signal: AbortSignal): Promise<Seat> {
  const client = new Client({
    connectionString: options.databaseUrl,
    application_name: `${options.name} writer`,
    keepAlive: true,
    connectionTimeoutMillis: 5000,
    query_timeout: COMMIT_WITHIN,
  });
  const lost = new Promise<unknown>((resolve) => {
    client.on('error', resolve);
    client.on('end', () => resolve(new Error('the connection to the database was closed')));
  });
  try {
    await client.connect();
    // An acknowledged event is on disk, whatever the database's own default is.
    await client.query(DURABLE);
    await client.query('set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3');
    await waitForLock(client, options, previous, signal);
    const { rows } = await client.query<{ epoch: string }>(
      `update ${options.schema}.writer set epoch = epoch + 1 returning epoch::text`,
    );
    return { client, epoch: rows[0]?.epoch ?? '', lost };
  } catch (fault) {
    await client.end().catch(() => undefined);
    throw fault;
  }
}

async function waitForLock(
  client: Client,
  { schemaName, onWait }: SeatOptions,
  previous: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const key = lockKey(schemaName);
  for (let waited = false; ; waited = true) {
    if (signal.aborted) throw new Error('stopped while waiting to become the writer');
    const { rows } = await client.query<{ held: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) held',
      [key],
    );
    if (rows[0]?.held) return;
    if (!waited) onWait();
    // An earlier session of this very process may linger on the server after its connection broke.
    if (previous !== undefined) await client.query(END_SESSION, [previous, key]);
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}

const DURABLE = `
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')`;

const END_SESSION = `
  select pg_terminate_backend(pid) from pg_locks
  where locktype = 'advisory' and granted and pid = $1
    and classid::bigint = (hashtextextended($2, 0) >> 32) & 4294967295
    and objid::bigint = hashtextextended($2, 0) & 4294967295`;
