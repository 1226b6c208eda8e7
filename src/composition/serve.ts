import { existsSync } from 'node:fs';
import { operations } from '../application/registry.js';
import type { Services } from './bind.js';
import { makeContainer } from './container.js';
import { partsOf, startedBy, type Part, type Role } from './roles.js';
import { T, type Backends, type ProcessLogger, type ProcessMetrics } from './tokens.js';
import type { Config } from '../infrastructure/config.js';
import { startBackground } from './background.js';
import { startFirstAdministrator } from './first-administrator.js';
import { startEmbedded } from '../infrastructure/embedded/embedded.js';
import { StartupError } from '../infrastructure/startup-error.js';
import { makeMetrics } from '../infrastructure/metrics.js';
import { adminKeyFile, keptKeks } from '../infrastructure/secrets.js';
import { mcpDoor } from '../interfaces/mcp/door.js';
import { startHttpServer } from '../interfaces/http/server.js';
import { restDoor } from '../interfaces/rest/door.js';

export const version = '0.1.0';

/** How long requests that run may go on once the process was asked to end, in milliseconds. */
const graceMs = 10_000;

export interface Serving {
  /** Where the doors are; undefined for roles without one. */
  readonly url: string | undefined;
  /** Where `/healthz`, `/readyz` and `/metrics` are; undefined for parts that are beside a door. */
  readonly probesUrl: string | undefined;
  /** Where the administrator's first key lies; undefined when this home does not have it. */
  readonly adminKeyFile: string | undefined;
  readonly backends: Backends;
  /** Takes no more work, finishes what runs, closes everything. */
  stop(): Promise<void>;
}

/** Starts what a role needs. Throws StartupError with one line when it cannot. */
export async function serve(
  config: Config,
  role: Role,
  logger: ProcessLogger,
  say: (line: string) => void,
): Promise<Serving> {
  const embedded = await startBackends(config, role, say);
  const { backends } = embedded;
  try {
    const running = await (role === 'all'
      ? startAll(config, backends, logger, say)
      : startRole(config, backends, role, logger));
    return {
      ...running,
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
async function startAll(
  config: Config,
  backends: Backends,
  logger: ProcessLogger,
  say: (line: string) => void,
): Promise<Running> {
  const metrics = makeMetrics();
  const background = await startBackground(config, backends, metrics, () => {
    say('The background thread ended; so does the server.');
    process.exit(1);
  });
  try {
    const door = await startParts(config, backends, ['api'], logger, metrics);
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

type Running = Omit<Serving, 'backends'>;

/** Starts a role in this thread, on backends that serve. */
export const startRole = (config: Config, backends: Backends, role: Role, logger: ProcessLogger): Promise<Running> =>
  startParts(config, backends, partsOf[role], logger, makeMetrics(), true);

/** Starts parts of the product; with `isProcess`, they are a whole process and have probes also without a door. */
export async function startParts(
  config: Config,
  backends: Backends,
  parts: readonly Part[],
  logger: ProcessLogger,
  metrics: ProcessMetrics,
  isProcess = false,
): Promise<Running> {
  const services = makeContainer(config, backends, logger, metrics);
  try {
    for (const part of parts) for (const started of startedBy[part]) await services.get(started);
    const hasDoors = parts.includes('api');
    const server = hasDoors
      ? await startApi(config, services)
      : isProcess
        ? await startProbes(config, services)
        : undefined;
    const keyFile = adminKeyFile(config.home);
    return {
      url: hasDoors ? server?.url : undefined,
      probesUrl: server?.url,
      adminKeyFile: existsSync(keyFile) ? keyFile : undefined,
      async stop() {
        await server?.close();
        await services.close();
        await logger.flush();
      },
    };
  } catch (fault) {
    await services.close();
    throw fault;
  }
}

/** What orchestrators and Prometheus ask a process that has no door. */
async function startProbes({ host, probesPort }: Config, services: Services) {
  const [checks, logger, exposition] = await Promise.all([
    services.get(T.checks),
    services.get(T.logger),
    services.get(T.metrics),
  ]);
  const at = { host, port: probesPort };
  try {
    const server = await startHttpServer({ doors: [], log: logger, checks, exposition }, at);
    return { url: server.url, close: () => server.close(graceMs) };
  } catch (fault) {
    throw notListening(fault, at, 'PALIMPSEST_PROBES_PORT') ?? fault;
  }
}

async function startApi(config: Config, services: Services) {
  const [gateway, authenticate, checks, logger, exposition] = await Promise.all([
    services.get(T.gateway),
    services.get(T.authenticate),
    services.get(T.checks),
    services.get(T.logger),
    services.get(T.metrics),
  ]);
  const administrator = await startFirstAdministrator(config, services);
  const hosts = [config.host, ...(config.mcpHosts ?? [])];
  const doors = [
    restDoor({ operations, gateway, version }),
    mcpDoor({ operations, gateway, authenticate, log: logger, version, hosts }),
  ];
  try {
    const server = await startHttpServer({ doors, log: logger, checks, exposition }, config);
    return {
      url: server.url,
      async close() {
        administrator.stop();
        await server.close(graceMs);
      },
    };
  } catch (fault) {
    administrator.stop();
    throw notListening(fault, config, 'PORT') ?? fault;
  }
}

/** Why the system does not let a server listen there, where that is the reason of this fault. */
function notListening(
  fault: unknown,
  { host, port }: Pick<Config, 'host' | 'port'>,
  variable: string,
): StartupError | undefined {
  if (!(fault instanceof Error) || !('code' in fault) || !('syscall' in fault)) return undefined;
  if (fault.code === 'EADDRINUSE')
    return new StartupError(`${variable} ${port} on ${host} is in use by another program.`);
  if (fault.code === 'EACCES') return new StartupError(`${variable} ${port} is not open to this user.`);
  return new StartupError(`HOST ${host} is no address of this machine (${String(fault.code)}).`);
}
