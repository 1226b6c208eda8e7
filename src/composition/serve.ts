import { administratorId, ensureAdministrator } from '../application/access/administrator.js';
import { derivedUuid } from '../application/kernel/ids.js';
import { makeKeyMaker } from '../application/access/api-keys.js';
import { operations } from '../application/registry.js';
import { systemStreams } from '../application/tenancy/tenants.js';
import { makeContainer, T, type Backends } from './container.js';
import type { Config } from '../infrastructure/config.js';
import { startBackground } from './background.js';
import { startEmbedded } from '../infrastructure/embedded/embedded.js';
import { StartupError } from '../infrastructure/startup-error.js';
import type { makeLogger } from '../infrastructure/logger.js';
import { makeMetrics } from '../infrastructure/metrics.js';
import { adminKeyFile, keptKeks, removeFile, writePrivate } from '../infrastructure/secrets.js';
import { mcpDoor } from '../interfaces/mcp/door.js';
import { startRestServer } from '../interfaces/http/server.js';
import { purposeKey } from '../application/kernel/installation-keys.js';

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

type Log = ReturnType<typeof makeLogger>;
type Metrics = ReturnType<typeof makeMetrics>;

/** Starts what a role needs. Throws StartupError with one line when it cannot. */
export async function serve(config: Config, role: Role, log: Log, say: (line: string) => void): Promise<Serving> {
  const embedded = await startBackends(config, role, say);
  const { backends } = embedded;
  try {
    const running = await (role === 'all'
      ? startAll(config, backends, log, say)
      : startRole(config, backends, role, log));
    return {
      url: running.url,
      adminKeyFile: running.adminKeyFile,
      backends,
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

/** The door in this thread, everything else in one beside it. */
async function startAll(config: Config, backends: Backends, log: Log, say: (line: string) => void): Promise<Running> {
  const metrics = makeMetrics();
  const background = await startBackground(config, backends, metrics, () => {
    say('The background thread ended; so does the server.');
    process.exit(1);
  });
  try {
    const door = await startParts(config, backends, ['api'], log, metrics);
    return {
      ...door,
      async stop() {
        await door.stop();
        await background.stop();
      },
    };
  } catch (fault) {
    await background.stop();
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

type Part = 'projector' | 'worker' | 'api';
type Running = Omit<Serving, 'backends'>;

const partsOf: Readonly<Record<Role, readonly Part[]>> = {
  all: ['projector', 'worker', 'api'],
  api: ['api'],
  worker: ['worker'],
  projector: ['projector'],
};

/** Starts a role in this thread, on backends that serve. */
export const startRole = (config: Config, backends: Backends, role: Role, log: Log): Promise<Running> =>
  startParts(config, backends, partsOf[role], log);

export async function startParts(
  config: Config,
  backends: Backends,
  parts: readonly Part[],
  log: Log,
  metrics: Metrics = makeMetrics(),
): Promise<Running> {
  const { container, close } = makeContainer(config, backends, log, metrics);
  const has = (part: Part) => parts.includes(part);
  try {
    if (has('projector')) await container.getAsync(T.projector);
    if (has('worker')) {
      await container.getAsync(T.reactions);
      await container.getAsync(T.purgeWorker);
      await container.getAsync(T.reaper);
      await container.getAsync(T.ledgerAuditor);
      await container.getAsync(T.researchWorker);
    }
    const rest = has('api') ? await startApi(config, container, log, metrics) : undefined;
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

async function startApi(
  config: Config,
  container: ReturnType<typeof makeContainer>['container'],
  log: Log,
  metrics: Metrics,
) {
  const [gateway, authenticate, system, checks, rootKey] = await Promise.all([
    container.getAsync(T.gateway),
    container.getAsync(T.authenticate),
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
  const hosts = [config.host, ...(config.mcpHosts ?? [])];
  const beside = [mcpDoor({ operations, gateway, authenticate, log, version, hosts })];
  try {
    return await startRestServer({ operations, gateway, log, checks, exposition: metrics, version, beside }, config);
  } catch (fault) {
    throw notListening(fault, config) ?? fault;
  }
}

/** Why the system does not let a server listen there, where that is the reason of this fault. */
function notListening(fault: unknown, { host, port }: Config): StartupError | undefined {
  if (!(fault instanceof Error) || !('code' in fault) || !('syscall' in fault)) return undefined;
  if (fault.code === 'EADDRINUSE') return new StartupError(`PORT ${port} on ${host} is in use by another program.`);
  if (fault.code === 'EACCES') return new StartupError(`PORT ${port} is not open to this user.`);
  return new StartupError(`HOST ${host} is no address of this machine (${String(fault.code)}).`);
}
