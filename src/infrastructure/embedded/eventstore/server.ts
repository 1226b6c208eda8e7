import { Engine, type Log } from './engine/engine.js';
import type { Scavenged } from './engine/scavenge.js';
import { listen } from './grpc/listener.js';
import { basicAuthentication, type Credentials } from './service/credentials.js';
import { routes } from './service/routes.js';
import { memoryStore } from './store/memory.js';
import { postgresStore } from './store/postgres/postgres-store.js';
import type { Store } from './store/storage.js';

interface CommonOptions {
  /** Where to listen: 127.0.0.1 unless said otherwise. Any other than a loopback address needs TLS and credentials. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  /** Who may use the store, over TLS. Without any, everyone who reaches it. */
  readonly credentials?: readonly Credentials[];
  /** Milliseconds between scavenges, 6 hours unless said otherwise; 0 for none but those asked for. */
  readonly scavengeEvery?: number;
  readonly log?: Log;
}

export type EventStoreOptions = CommonOptions &
  (
    | {
        readonly databaseUrl: string;
        /** The Postgres schema, made unless it is there. */
        readonly schema?: string;
        /** Shown in pg_stat_activity. */
        readonly connectionName?: string;
        readonly memory?: false;
      }
    | { /** Keeps nothing: for tests. */ readonly memory: true }
  );

export interface EventStore {
  /** What the official client connects to on this machine. */
  readonly url: string;
  readonly port: number;
  /** Removes truncated and deleted events for good, while the store serves. */
  scavenge(): Promise<Scavenged>;
  /** Finishes what is under way, ends open calls with CANCELLED and lets another process take over. */
  stop(): Promise<void>;
}

/**
 * Starts an event store that speaks the EventStoreDB client protocol. Resolves once it serves: when another process
 * already writes to the same schema, that is when the other one has ended. Rejects when the database or the address
 * cannot be used.
 */
export async function startEventStore(options: EventStoreOptions): Promise<EventStore> {
  const { host = '127.0.0.1', port = 0, tls, credentials = [], log = () => undefined } = options;
  refuseUnsafe(host, tls !== undefined, credentials.length > 0);
  const engine = new Engine(await openStore(options), log);
  const reachable = reachableHost(host);
  let bound = 0;
  try {
    await engine.start();
    const authenticate = basicAuthentication(credentials);
    const serve = routes({ engine, host: reachable, port: () => bound, authenticate });
    const listener = await listen({
      host,
      port,
      tls,
      serve,
      onFault: (fault, path) => log('an event store call faulted', { path, reason: String(fault) }),
    });
    bound = listener.port;
    const schedule = every(options.scavengeEvery ?? SIX_HOURS, () => scavengeAndTell(engine, log));
    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      clearInterval(schedule);
      await engine.drain();
      await listener.stop();
      await engine.stop();
    };
    return {
      url: urlOf(reachable, bound, tls !== undefined),
      port: bound,
      scavenge: () => engine.scavenge(),
      stop: () => (stopped ??= stop()),
    };
  } catch (fault) {
    await engine.stop();
    throw fault;
  }
}

const SIX_HOURS = 6 * 60 * 60 * 1000;

function every(milliseconds: number, run: () => Promise<void>): NodeJS.Timeout | undefined {
  return milliseconds > 0 ? setInterval(() => void run(), milliseconds).unref() : undefined;
}

async function scavengeAndTell(engine: Engine, log: Log): Promise<void> {
  try {
    log('event store scavenged', await engine.scavenge());
  } catch (fault) {
    engine.note('a scavenge did not finish', fault);
  }
}

async function openStore(options: EventStoreOptions): Promise<Store> {
  if (options.memory) return memoryStore();
  const { databaseUrl, schema = 'eventstore', connectionName = 'palimpsest event store' } = options;
  return postgresStore({ databaseUrl, schema, name: connectionName });
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

function refuseUnsafe(host: string, tls: boolean, credentials: boolean): void {
  if (credentials && !tls)
    throw new Error('Event store credentials need TLS: clients send none over a plain connection.');
  if (LOOPBACK.test(host)) return;
  if (!tls || !credentials)
    throw new Error(`An event store on ${host} needs TLS and credentials; plain is for loopback.`);
}

/** Who listens everywhere is reached here, too. */
const reachableHost = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

const urlOf = (host: string, port: number, tls: boolean): string =>
  `esdb://${host.includes(':') ? `[${host}]` : host}:${port}?tls=${tls}&keepAliveInterval=10000&keepAliveTimeout=10000`;
