import { readFileSync } from 'node:fs';
import { startEventStore, type EventStore, type EventStoreOptions } from './server.js';

const STOP_WITHIN = 10_000;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The Postgres that an event store keeps its events in, and what to do with it when the store has ended. */
export interface Database {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Runs an event store as a process of its own, as the environment says. Prints one line of JSON with its URL and its
 * process id once it serves, scavenges on SIGUSR2, and ends gracefully on SIGTERM or SIGINT; with EXIT_WITH_PARENT=1 also
 * when its standard input closes, which the system does however the parent dies.
 *
 * Reads DATABASE_URL, EVENTSTORE_HOST, EVENTSTORE_PORT, EVENTSTORE_SCHEMA, EVENTSTORE_TLS_CERT_FILE, EVENTSTORE_TLS_KEY_FILE,
 * EVENTSTORE_USERNAME, EVENTSTORE_PASSWORD or EVENTSTORE_PASSWORD_FILE, and EVENTSTORE_SCAVENGE_HOURS.
 */
export async function runEventStoreProcess(
  env: Environment,
  openDatabase: () => Promise<Database> = () => given(env),
): Promise<void> {
  const leaving = leave(env['EXIT_WITH_PARENT'] === '1');
  let store: Running | undefined;
  process.on('SIGUSR2', () => void scavengeAndTell(store));
  try {
    const first = await Promise.race([start(env, openDatabase), leaving]);
    if (!first) process.exit(0); // asked to leave while starting or standing by
    store = first;
  } catch (fault) {
    process.stderr.write(`The event store cannot start: ${reasonOf(fault)}\n`);
    process.exit(1);
  }
  process.stdout.write(`${JSON.stringify({ ready: true, url: store.url, pid: process.pid })}\n`);
  await leaving;
  setTimeout(() => process.exit(1), STOP_WITHIN).unref(); // a database that hangs must not keep this process
  await store.stop();
  process.exit(0);
}

type Running = Pick<EventStore, 'url' | 'scavenge' | 'stop'>;

async function start(env: Environment, openDatabase: () => Promise<Database>): Promise<Running> {
  const options = optionsFrom(env);
  const database = await openDatabase();
  const store = await startEventStore({ ...options, databaseUrl: database.url });
  const stop = async (): Promise<void> => {
    await store.stop();
    await database.stop();
  };
  return { url: store.url, scavenge: () => store.scavenge(), stop };
}

async function scavengeAndTell(store: Running | undefined): Promise<void> {
  if (!store) return log('no scavenge: this event store does not serve yet');
  try {
    log('event store scavenged', await store.scavenge());
  } catch (fault) {
    log('a scavenge did not finish', { reason: reasonOf(fault) });
  }
}

function given({ DATABASE_URL: url }: Environment): Promise<Database> {
  if (!url) throw new Error('DATABASE_URL is missing.');
  return Promise.resolve({ url, stop: () => Promise.resolve() });
}

function leave(withParent: boolean): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
    if (!withParent) return;
    process.stdin.resume();
    process.stdin.once('close', () => resolve());
    process.stdin.once('end', () => resolve());
    process.stdout.on('error', () => resolve());
  });
}

function optionsFrom(env: Environment) {
  const port = Number(env['EVENTSTORE_PORT'] ?? '0');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('EVENTSTORE_PORT is not a port.');
  return {
    port,
    host: env['EVENTSTORE_HOST'] ?? '127.0.0.1',
    schema: env['EVENTSTORE_SCHEMA'] ?? 'eventstore',
    scavengeEvery: scavengeEvery(env),
    ...tlsFrom(env),
    credentials: credentialsFrom(env),
    log,
  };
}

function log(line: string, fields?: object): void {
  process.stderr.write(`${JSON.stringify({ msg: line, ...fields })}\n`);
}

function scavengeEvery({ EVENTSTORE_SCAVENGE_HOURS: hours = '6' }: Environment): number {
  const milliseconds = Number(hours) * 60 * 60 * 1000;
  // A timer cannot wait longer than 2^31 ms.
  if (!(milliseconds >= 0 && milliseconds < 2 ** 31)) throw new Error('EVENTSTORE_SCAVENGE_HOURS is not 0 to 596.');
  return milliseconds;
}

function tlsFrom(env: Environment): Pick<EventStoreOptions, 'tls'> {
  const certFile = env['EVENTSTORE_TLS_CERT_FILE'];
  const keyFile = env['EVENTSTORE_TLS_KEY_FILE'];
  if (!certFile && !keyFile) return {};
  if (!certFile || !keyFile) throw new Error('EVENTSTORE_TLS_CERT_FILE and EVENTSTORE_TLS_KEY_FILE go together.');
  return { tls: { certFile, keyFile } };
}

function credentialsFrom(env: Environment): { username: string; password: string }[] {
  const username = env['EVENTSTORE_USERNAME'];
  const password = passwordIn(env['EVENTSTORE_PASSWORD_FILE']) || env['EVENTSTORE_PASSWORD'];
  if (!username && !password) return [];
  if (!username || !password) throw new Error('EVENTSTORE_USERNAME and EVENTSTORE_PASSWORD go together.');
  return [{ username, password }];
}

function passwordIn(file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Error(`EVENTSTORE_PASSWORD_FILE ${file} cannot be read.`);
  }
}

/** What is said of a failed start: an address error has a code and no useful message of its own. */
function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return 'unknown';
  return fault.message || ('code' in fault ? String(fault.code) : fault.name);
}

if (require.main === module) void runEventStoreProcess(process.env);
