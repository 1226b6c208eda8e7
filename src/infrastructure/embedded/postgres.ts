import { existsSync, readFileSync, renameSync, rmSync, writeFileSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import { untilServing, type Backend, type BackendNeeds } from './backend.js';
import { keptPassword, lastLogLine, logFile } from './home.js';
import type { Program } from './keeper-messages.js';
import type { Kept } from './kept.js';
import { privateFolder } from './place.js';
import { onKeptPort } from './ports.js';
import { postgresBinaries } from './postgres-binaries.js';
import { endStrays } from './postgres-strays.js';
import { StartupError } from '../startup-error.js';
import { supervise } from './supervise.js';

const name = 'postgres';
const role = 'palimpsest';
const database = 'palimpsest';
const majorVersion = '18';

/** Every setting is said here, none in a file that a person would have to compare. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 100,
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_buffers: '16MB',
  min_wal_size: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  jit: 'off', // Pays for itself on long analytical queries only.
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A failing statement or row may hold what a user wrote: the log tells codes, not contents.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** Starts PostgreSQL on this home's data, which is made first when there is none. */
export async function startPostgres(needs: BackendNeeds): Promise<Backend> {
  const { home, place, keeper } = needs;
  const folder = privateFolder(join(place.folder, name), place.runAs);
  const data = join(folder, 'data');
  const binaries = postgresBinaries(place.runAs, needs.log);
  const password = keptPassword(home, name);
  const program = (command: string, args: readonly string[]): Program => ({
    name,
    command: join(binaries, command),
    args,
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    runAs: place.runAs,
    logFile: logFile(home, name),
    // Fast shutdown, then immediate: a killed postmaster would leave its own children behind for a moment.
    stopSignals: ['SIGINT', 'SIGQUIT'],
  });
  if (!existsSync(data)) await initialise(needs, program, { folder, data, password });
  refuseOtherVersion(data);

  const launch = async (port: number): Promise<Kept> => {
    await endStrays(data);
    const kept = await keeper.run(program('postgres', ['-D', data, '-p', String(port), ...flags(settings)]));
    return untilServing({ name, home, kept, serves: () => serves(urlAt(port, password)) });
  };
  const { kept, port } = await onKeptPort(home, name, async (port) => ({ kept: await launch(port), port }));
  return { url: urlAt(port, password), stop: supervise(name, kept, () => launch(port), needs) };
}

const urlAt = (port: number, password: string, to = database): string =>
  `postgres://${role}:${password}@127.0.0.1:${port}/${to}`;

const flags = (values: Record<string, string | number>): string[] =>
  Object.entries(values).flatMap(([setting, value]) => ['-c', `${setting}=${value}`]);

/** Makes the data beside its final place and moves it there whole, so that a start cut short is a start from scratch. */
async function initialise(
  { home, place, keeper, log }: BackendNeeds,
  program: (command: string, args: readonly string[]) => Program,
  { folder, data, password }: { folder: string; data: string; password: string },
): Promise<void> {
  log('Making a new PostgreSQL database.');
  const making = join(folder, 'making');
  const passwordFile = join(folder, 'password');
  rmSync(making, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (place.runAs) chownSync(passwordFile, place.runAs.uid, place.runAs.gid);
  const initdb = await keeper.run(
    program('initdb', [
      `--pgdata=${making}`,
      `--username=${role}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C', // The same order of text on every machine.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ]),
  );
  const how = await initdb.ended;
  rmSync(passwordFile);
  if (how !== 'exit code 0')
    throw new StartupError(`initdb failed (${how}): ${lastLogLine(home, name)} [${logFile(home, name)}]`);
  renameSync(making, data);
}

function refuseOtherVersion(data: string): void {
  const version = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (version === majorVersion) return;
  throw new StartupError(
    `${data} was written by PostgreSQL ${version}, this is ${majorVersion}: dump it there and restore it here.`,
  );
}

/** True once the application's database takes connections; makes that database in a new cluster. */
async function serves(url: string): Promise<boolean> {
  try {
    await connectTo(url);
    return true;
  } catch (error) {
    if (!(error instanceof DatabaseError)) return false;
    if (error.code === '3D000') await connectTo(url.replace(/[^/]*$/, 'postgres'), `create database ${database}`);
    if (error.code === '28P01')
      throw new StartupError('The kept PostgreSQL password does not open the data of this home.');
    return false;
  }
}

async function connectTo(url: string, statement = 'select 1'): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined); // The failed call tells it too.
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}
