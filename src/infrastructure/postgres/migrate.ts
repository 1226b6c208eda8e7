import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseError, escapeIdentifier, type ClientBase } from 'pg';
import type { Projection } from '../../../projections/kit/projection.js';
import { BackendUnavailable } from '../../application/faults/errors.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { StartupError } from '../startup-error.js';
import { appRoleUrl, ensureAppRole } from './app-role.js';
import { appSession, connectAlone, NotLetIn, readModelSchema } from './database.js';
import { asPortFault } from './faults.js';
import { lockNumbers } from './locks.js';
import { formOf, makeTables, projectionsFolder } from './read-model-tables.js';
import { assertTenancy } from './tenancy-check.js';
import { secureOnce } from './tenancy.js';
import { inTransaction } from './transaction.js';

export interface MigrateOptions {
  /** The owner's URL. The owner may make roles and schemas in this database. */
  readonly url: string;
  /** What the app role's password derives from, or how to get it once the system tables are there. */
  readonly kek: Buffer | ((client: ClientBase) => Promise<Buffer>);
  readonly projections: readonly Projection[];
  readonly log: Logger;
  /** Where the projections' `.sql` files are. */
  readonly folder?: string;
}

const migrationsFolder = join(__dirname, 'migrations');

/**
 * Brings a database up to this version: system tables by numbered scripts, tables of read models that are not there yet,
 * and the tenancy of all of them. Processes that start together wait for each other. Throws StartupError when the
 * database cannot be used safely, BackendUnavailable when it cannot be reached.
 */
export async function migrate({
  url,
  kek,
  projections,
  log,
  folder = projectionsFolder,
}: MigrateOptions): Promise<void> {
  const client = await connectAlone(url, { schema: 'palimpsest', statementTimeoutMs: 0 }, log).catch(refuseMissing);
  try {
    await client.query('select pg_advisory_lock($1, $2)', lockNumbers.migration);
    await prepareSchemas(client);
    for (const migration of readMigrations()) await runOnce(client, migration, log);
    const rootKey = typeof kek === 'function' ? await kek(client) : kek;
    const appRole = await ensureAppRole(client, url, rootKey);
    await client.query(
      `grant usage on schema ${readModelSchema} to ${escapeIdentifier(appRole)};
       revoke create on schema ${readModelSchema} from public`,
    );
    await inTransaction(client, () => secureOnce(client, readModelSchema, 'key_usage', appRole));
    for (const projection of projections) await prepareProjection(client, projection, folder, appRole);
    await assertTenancy(client, appRole);
    await assertLetIn(appRole, url, rootKey, log);
  } catch (fault) {
    throw isRefusedPrivilege(fault)
      ? new StartupError('The user in DATABASE_URL may not make the roles, schemas and tables that are needed.')
      : asPortFault(fault);
  } finally {
    await client.end();
  }
}

function refuseMissing(fault: unknown): never {
  const cause = fault instanceof BackendUnavailable ? fault.cause : undefined;
  throw cause instanceof DatabaseError && cause.code === '3D000'
    ? new StartupError('The database that DATABASE_URL names does not exist.')
    : fault;
}

const isRefusedPrivilege = (fault: unknown): boolean => fault instanceof DatabaseError && fault.code === '42501';

/** What is true of the app role helps only those who come in as it. */
async function assertLetIn(appRole: string, url: string, rootKey: Buffer, log: Logger): Promise<void> {
  try {
    await (await connectAlone(appRoleUrl(url, rootKey), appSession(url), log)).end();
  } catch (fault) {
    const cause = fault instanceof BackendUnavailable ? fault.cause : undefined;
    const isRefused = cause instanceof DatabaseError && cause.code?.startsWith(refusedLogins) === true;
    throw isRefused ? new NotLetIn(appRole) : fault;
  }
}

/** SQLSTATE class. */
const refusedLogins = '28';

async function prepareSchemas(client: ClientBase): Promise<void> {
  await client.query(`
    create schema if not exists palimpsest;
    create schema if not exists ${readModelSchema};
    create table if not exists palimpsest.migrations (
      name text primary key, digest text not null, run_at timestamptz not null default now());`);
}

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

const readMigrations = (): readonly Migration[] =>
  readdirSync(migrationsFolder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(migrationsFolder, name), 'utf8');
      return { name, text, digest: createHash('sha256').update(text).digest('hex') };
    });

async function runOnce(client: ClientBase, { name, text, digest }: Migration, log: Logger): Promise<void> {
  const { rows } = await client.query<{ digest: string }>('select digest from migrations where name = $1', [name]);
  const [run] = rows;
  if (run && run.digest !== digest) throw new StartupError(`The migration ${name} was run here in another form.`);
  if (run) return;
  await inTransaction(client, async () => {
    await client.query(text);
    await client.query('insert into migrations (name, digest) values ($1, $2)', [name, digest]);
  });
  log.info({ migration: name }, 'migrated');
}

/**
 * Makes the tables of a read model that is not there yet, empty and at position 0: the projector fills them. One that is
 * there keeps its tables, also when it was made by another version, so that reads go on until it is rebuilt.
 */
async function prepareProjection(
  client: ClientBase,
  projection: Projection,
  folder: string,
  appRole: string,
): Promise<void> {
  await inTransaction(client, async () => {
    const { rowCount } = await client.query('select from projections where name = $1', [projection.name]);
    if (rowCount !== 0) return;
    await makeTables(client, readModelSchema, projection, folder, appRole);
    await client.query('insert into palimpsest.projections (name, form, tables) values ($1, $2, $3)', [
      projection.name,
      formOf(projection, folder),
      projection.tables,
    ]);
  });
}
