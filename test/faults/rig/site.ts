import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.js';
import { ownRedis, type OwnRedis } from '../../support/own-redis.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { Rig } from '../eventstore/rig.js';
import { Caller } from './caller.js';
import { Program, type ProgramRole } from './program.js';

export type BackendName = 'redis' | 'eventstore' | 'postgres';

/** Backends of a suite's own behind proxies that fail on demand, and any number of the product's processes on them. */
export interface Site {
  readonly backends: Rig;
  readonly redis: OwnRedis;
  readonly proxies: Readonly<Record<BackendName, TcpProxy>>;
  /** What every process of the product wrote. */
  readonly logFile: string;
  /** A process of the product, started. Those with a door are reached through `at`, and stay at their port. */
  program(role: ProgramRole, env?: Readonly<Record<string, string>>): Promise<Placed>;
  /** A proxy in front of a process's door. */
  door(program: Placed): Promise<TcpProxy>;
  /** A caller with the administrator's key. */
  admin(at: Placed): Caller;
  /** Processes that ended although nobody had asked them to. */
  exits(): string[];
  remove(): Promise<void>;
}

export interface Placed extends Program {
  readonly url: string;
  readonly port: number;
}

export async function startSite(): Promise<Site> {
  const backends = new Rig();
  const [, redis] = await Promise.all([backends.start(), ownRedis()]);
  const proxies = {
    redis: await startTcpProxy(addressOf(redis.url)),
    eventstore: await startTcpProxy(addressOf(backends.url)),
    postgres: await startTcpProxy(addressOf(backends.databaseUrl)),
  };
  const home = mkdtempSync(join(tmpdir(), 'palimpsest-site-'));
  const logFile = join(home, 'processes.log');
  const env = {
    PALIMPSEST_HOME: home,
    PALIMPSEST_KEK: randomBytes(32).toString('base64'),
    REDIS_URL: through(proxies.redis, redis.url),
    EVENTSTORE_URL: through(proxies.eventstore, backends.url),
    DATABASE_URL: through(proxies.postgres, backends.databaseUrl),
  };
  const programs: Program[] = [];
  const doors: TcpProxy[] = [];
  return {
    backends,
    redis,
    proxies,
    logFile,
    async program(role, more = {}) {
      const port = await freePort();
      const program = new Program(role, { ...env, PORT: String(port), ...more }, logFile);
      programs.push(program);
      await program.start();
      return Object.assign(program, { port, url: `http://127.0.0.1:${port}` });
    },
    async door({ port }) {
      const door = await startTcpProxy({ host: '127.0.0.1', port });
      doors.push(door);
      return door;
    },
    admin: ({ url }) => new Caller([url], readFileSync(join(home, 'admin.key'), 'utf8').trim()),
    exits: () => programs.flatMap(({ exits }) => exits),
    async remove() {
      await Promise.all(programs.map((program) => program.kill()));
      await Promise.all([...doors, ...Object.values(proxies)].map((proxy) => proxy.close()));
      await redis.remove();
      await backends.remove();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname: host, port } = new URL(url.replace(/^[a-z]+:/, 'http:'));
  return { host, port: Number(port) };
}

const through = (proxy: TcpProxy, url: string): string => url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${proxy.port}`);
