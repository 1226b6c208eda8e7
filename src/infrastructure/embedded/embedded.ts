import { join } from 'node:path';
import type { Backend, BackendNeeds } from './backend.js';
import { startEventStoreProcess } from './eventstore-process.js';
import { logFile, openHome } from './home.js';
import { Keeper } from './kept.js';
import { endLeftovers } from './leftovers.js';
import { placeFor } from './place.js';
import { startPostgres } from './postgres.js';
import { startRedis } from './redis.js';
import { serviceUser } from './service-user.js';
import { StartupError } from '../startup-error.js';

export interface EmbeddedOptions {
  /** PALIMPSEST_HOME; made when it is missing. */
  readonly home: string;
  /** Which of the three are embedded; the others are served elsewhere. */
  readonly need: { readonly postgres: boolean; readonly redis: boolean; readonly eventstore: boolean };
  /** The event store keeps its events here when Postgres is not embedded. */
  readonly databaseUrl?: string | undefined;
  /** Reported, one line each, of what takes time or goes wrong. */
  readonly log: (line: string) => void;
  /** Reported when a backend died and could not be brought back. By default the line is logged and the process ends with 1. */
  readonly onLost?: (error: StartupError) => void;
  /** The home is removed once everything has ended, however it ended. */
  readonly throwAway?: boolean;
}

export interface Embedded {
  /** Present for each backend that was needed. */
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
  readonly eventstoreUrl?: string;
  /** Ends the backends in order and gives the home back. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts the embedded backends that are needed, each on a free loopback port, and resolves when all of them serve.
 * They end with this process, however it ends. Throws {@link StartupError} with one line for the operator.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { need, log } = options;
  if (!need.postgres && !need.redis && !need.eventstore) return { stop: () => Promise.resolve() };
  const home = await openHome(options.home);
  const recordFile = join(home.path, 'processes.json');
  for (const name of await endLeftovers(recordFile))
    log(`Ended ${name}, left over from an earlier server of this home.`);

  const runAs = serviceUser(log);
  const place = placeFor(home, runAs, log);
  const removeAtEnd = options.throwAway ? [place.folder, home.path] : [];
  const keeper = new Keeper({ recordFile, logFile: logFile(home, 'keeper'), removeAtEnd });
  keeper.open();
  const needs: BackendNeeds = { home, place, keeper, log, onLost: options.onLost ?? endProcess(log) };
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const stopOne of stops.splice(0).reverse()) await stopOne();
    await keeper.close();
    home.release();
  };
  const started = async (starting: Promise<Backend>): Promise<string> => {
    const backend = await starting;
    stops.push(() => backend.stop());
    return backend.url;
  };

  try {
    const [databaseUrl, redisUrl] = await allOrFirstError([
      need.postgres ? started(startPostgres(needs)) : undefined,
      need.redis ? started(startRedis(needs)) : undefined,
    ]);
    const eventsIn = databaseUrl ?? options.databaseUrl;
    if (need.eventstore && eventsIn === undefined) {
      throw new StartupError('The embedded event store needs a database: set DATABASE_URL or EVENTSTORE_URL.');
    }
    const eventstoreUrl =
      need.eventstore && eventsIn !== undefined ? await started(startEventStoreProcess(needs, eventsIn)) : undefined;
    return {
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
      ...(redisUrl === undefined ? {} : { redisUrl }),
      ...(eventstoreUrl === undefined ? {} : { eventstoreUrl }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Like Promise.all, but an error is only reported once nothing is under way any more, so that a stop reaches everything. */
async function allOrFirstError<T>(promises: readonly [T, T]): Promise<[Awaited<T>, Awaited<T>]> {
  await Promise.allSettled(promises);
  return [await promises[0], await promises[1]];
}

const endProcess = (log: (line: string) => void) => (error: StartupError) => {
  log(error.message);
  process.exit(1);
};
