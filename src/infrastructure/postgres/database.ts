import { Client, Pool, type ClientBase, type PoolClient } from 'pg';
import type { Sql } from '../../../projections/kit/sql.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { StartupError } from '../startup-error.js';
import { appRoleOfUrl, appRoleUrl } from './app-role.js';
import { asPortFault } from './faults.js';
import { runTogether, type Outcome } from './pipeline.js';

/** How long one batch of statements may take before its connection is given up, in milliseconds. */
const answerWithinMs = 10_000;
/** Postgres itself ends a statement sooner, so that the connection need not be lost. */
const statementTimeoutMs = 5_000;
const connectWithinMs = 5_000;

/** Where read models live; statements name their tables without it. */
export const readModelSchema = 'read_models';

/** A pool of connections that runs statements together, as one transaction in one round trip. */
export interface Statements {
  /** Throws BackendUnavailable, or StatementFailed. */
  run(...statements: readonly Sql[]): Promise<readonly Outcome[]>;
}

export interface Database {
  /** The tenants' side: a role that owns nothing and stands under row-level security. Reads only. */
  readonly app: Statements;
  /** The system's side: the owner of the tables. */
  readonly system: Statements;
  /** A connection of the owner's for one purpose, outside the pools; the caller ends it. */
  connect(settings?: SessionSettings): Promise<Client>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The owner's URL. */
  readonly url: string;
  /** What the app role's password derives from. */
  readonly kek: Buffer;
  readonly log: Logger;
  readonly appConnections?: number;
  readonly systemConnections?: number;
}

export interface SessionSettings {
  /** The role that it must be: a connection that turns out to be another's is refused. */
  readonly role?: string;
  readonly schema?: string;
  readonly statementTimeoutMs?: number;
  /** False where what is written can be written again from the log. */
  readonly durable?: boolean;
  readonly readOnly?: boolean;
  /** True where every statement finds its rows by a key: a plan made while a table was small must not scan it once it is large. */
  readonly byKey?: boolean;
}

/** Opens the pools; connections are made when they are first needed. `migrate` must have run before. */
export function openDatabase({ url, kek, log, appConnections = 16, systemConnections = 6 }: DatabaseOptions): Database {
  const app = openPool(appRoleUrl(url, kek), appConnections, appSession(url), log);
  const system = openPool(url, systemConnections, {}, log);
  return {
    app: { run: (...statements) => runOn(app, statements) },
    system: { run: (...statements) => runOn(system, statements) },
    connect: (settings = {}) => connectAlone(url, settings, log),
    async close() {
      await Promise.all([app.end(), system.end()]);
    },
  };
}

/** Tenants' reads would run as another role than the app role, which might not stand under row-level security. */
export class NotLetIn extends StartupError {
  constructor(role: string) {
    super(`DATABASE_URL does not let the role ${role} in as itself, which tenants' reads need.`);
  }
}

/** How tenants' reads use a connection. */
export const appSession = (ownerUrl: string): SessionSettings => ({ readOnly: true, role: appRoleOfUrl(ownerUrl) });

function openPool(connectionString: string, max: number, settings: SessionSettings, log: Logger): Pool {
  const pool = new Pool({
    connectionString,
    max,
    connectionTimeoutMillis: connectWithinMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not say so
    onConnect: (client) => {
      // The pool listens to idle connections only, and the user of one gets a failing query; without a listener the error
      // would also end the process.
      client.on('error', () => undefined);
      return prepareSession(client, settings);
    },
  });
  // An idle connection that dies is replaced when one is needed; without a listener its error would end the process.
  pool.on('error', () => log.warn({ backend: 'postgres' }, 'an idle connection was lost'));
  return pool;
}

/** Opens one connection, ready for use. Its loss is logged; its user notices it by `end` or a failing query. */
export async function connectAlone(connectionString: string, settings: SessionSettings, log: Logger): Promise<Client> {
  const client = new Client({ connectionString, connectionTimeoutMillis: connectWithinMs, keepAlive: true });
  client.on('error', () => log.warn({ backend: 'postgres' }, 'a connection was lost'));
  try {
    await client.connect();
    await prepareSession(client, settings);
    return client;
  } catch (fault) {
    await client.end().catch(() => undefined);
    throw asPortFault(fault);
  }
}

async function prepareSession(
  client: ClientBase,
  { schema = readModelSchema, durable = true, readOnly = false, byKey = false, role, ...settings }: SessionSettings,
): Promise<void> {
  const values = {
    search_path: schema,
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    statement_timeout: String(settings.statementTimeoutMs ?? statementTimeoutMs),
    idle_in_transaction_session_timeout: '60000',
    default_transaction_read_only: readOnly ? 'on' : 'off',
    ...(!durable && { synchronous_commit: 'off' }),
    ...(byKey && { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }),
  };
  const entries = Object.entries(values);
  const { rows } = await client.query<{ who: string }>(
    `select current_user as who, ${entries.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, false)`).join(', ')}`,
    entries.flat(),
  );
  if (role !== undefined && rows[0]?.who !== role) throw new NotLetIn(role);
}

async function runOn(pool: Pool, statements: readonly Sql[]): Promise<readonly Outcome[]> {
  let client: PoolClient | undefined;
  let fault: unknown;
  try {
    client = await pool.connect();
    return await runTogether(client, statements, answerWithinMs);
  } catch (caught) {
    fault = caught;
    throw asPortFault(caught);
  } finally {
    // After any fault the connection's state is not known: it is ended, never given to the next borrower.
    client?.release(fault !== undefined);
  }
}
