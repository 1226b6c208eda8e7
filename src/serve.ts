import { administratorId, ensureAdministrator } from './application/administrator.js';
import { derivedUuid } from './application/ids.js';
import { makeKeyMaker, purposeKey } from './application/keys.js';
import { operations } from './application/registry.js';
import { systemStreams } from './application/system-work.js';
import { makeContainer, T, type Backends } from './container.js';
import type { Config } from './infrastructure/config.js';
import { startEmbedded } from './infrastructure/embedded/embedded.js';
import { StartupError } from './infrastructure/embedded/startup-error.js';
import type { makeLog } from './infrastructure/log.js';
import { adminKeyFile, keptKeks, removeFile, writePrivate } from './infrastructure/secrets.js';
import { startRestServer } from './interfaces/rest/server.js';

export const roles = ['all', 'api', 'worker', 'projector'] as const;
export type Role = (typeof roles)[number];

export const version = '0.1.0';

/** How long requests that run may go on once the process was asked to end, in milliseconds. */
const graceMs = 10_000;

export interface Serving {
  /** Undefined for roles without a door. */
  readonly url: string | undefined;
  /** Where the administrator's first key lies, when this home made it. */
  readonly adminKeyFile: string;
  readonly backends: Backends;
  /** Takes no more work, finishes what runs, closes everything. */
  stop(): Promise<void>;
}

type Log = ReturnType<typeof makeLog>;

/** Starts what a role needs. Throws StartupError with one line when it cannot. */
export async function serve(config: Config, role: Role, log: Log, say: (line: string) => void): Promise<Serving> {
  const embedded = await startBackends(config, role, say);
  try {
    const running = await startRoles(config, embedded.backends, role, log);
    return {
      url: running.url,
      adminKeyFile: running.adminKeyFile,
      backends: embedded.backends,
      async stop() {
        await running.stop();
        await embedded.stop();
      },
    };
  } catch (fault) {
    await embedded.stop();
    throw fault;
  }
}

/** The backends in the configuration, and embedded ones for those that are not there. */
export async function startBackends(config: Config, role: Role, say: (line: string) => void) {
  const { home, databaseUrl, eventstoreUrl, redisUrl } = config;
  const need = { postgres: !databaseUrl, redis: !redisUrl, eventstore: !eventstoreUrl };
  if (role !== 'all' && (need.postgres || need.redis || need.eventstore)) {
    throw new StartupError(
      `--role ${role} needs EVENTSTORE_URL, DATABASE_URL and REDIS_URL: embedded backends serve one process.`,
    );
  }
  const embedded = await startEmbedded({ home, need, databaseUrl, log: say });
  return {
    backends: {
      databaseUrl: databaseUrl ?? given(embedded.databaseUrl),
      eventstoreUrl: eventstoreUrl ?? given(embedded.eventstoreUrl),
      redisUrl: redisUrl ?? given(embedded.redisUrl),
      keks: config.keks ?? keptKeks(home),
    },
    stop: embedded.stop,
  };
}

function given(url: string | undefined): string {
  if (url === undefined) throw new StartupError('An embedded backend did not say where it serves.');
  return url;
}

/** Starts the parts of a role on backends that serve. */
export async function startRoles(
  config: Config,
  backends: Backends,
  role: Role,
  log: Log,
): Promise<Omit<Serving, 'backends'>> {
  const { container, close } = makeContainer(config, backends, log);
  const has = (part: Role) => role === 'all' || role === part;
  try {
    if (has('projector')) await container.getAsync(T.projector);
    if (has('worker')) {
      await container.getAsync(T.reactions);
      await container.getAsync(T.purgeWorker);
      await container.getAsync(T.reaper);
    }
    const rest = has('api') ? await startApi(config, container, log) : undefined;
    return {
      url: rest?.url,
      adminKeyFile: adminKeyFile(config.home),
      async stop() {
        await rest?.close(graceMs);
        await close();
        await log.flush();
      },
    };
  } catch (fault) {
    await close();
    throw fault;
  }
}

async function startApi(config: Config, container: ReturnType<typeof makeContainer>['container'], log: Log) {
  const [gateway, metrics, system, checks, rootKey] = await Promise.all([
    container.getAsync(T.gateway),
    container.getAsync(T.metrics),
    container.getAsync(T.system),
    container.getAsync(T.checks),
    container.getAsync(T.rootKey),
  ]);
  const file = adminKeyFile(config.home);
  const streams = systemStreams(system, administratorId, derivedUuid('administrator'));
  await ensureAdministrator(streams, makeKeyMaker(purposeKey(rootKey, 'api keys')), {
    write: (key) => writePrivate(file, `${key}\n`),
    remove: () => removeFile(file),
  });
  try {
    return await startRestServer({ operations, gateway, log, checks, exposition: metrics, version }, config);
  } catch (fault) {
    throw inUse(fault)
      ? new StartupError(`PORT ${config.port} on ${config.host} is in use by another program.`)
      : fault;
  }
}

const inUse = (fault: unknown): boolean => fault instanceof Error && 'code' in fault && fault.code === 'EADDRINUSE';
