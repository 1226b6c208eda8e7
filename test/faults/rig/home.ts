import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.js';
import { Caller } from './caller.js';
import { Program } from './program.js';

/** The product as one process on a home of its own, with embedded backends. */
export interface Home {
  readonly folder: string;
  readonly url: string;
  readonly program: Program;
  admin(): Caller;
  /** The embedded backends, as their owner reaches them. */
  databaseUrl(): string;
  redisUrl(): string;
  /** Every line that the product and its backends wrote. */
  logs(): string;
  /** Processes that live for this home, but for the server itself. */
  processes(): readonly number[];
  remove(): Promise<void>;
}

/** A home whose server is not started yet. */
export async function makeHome(): Promise<Home> {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-home-'));
  const port = await freePort();
  const env = { PALIMPSEST_HOME: folder, PORT: String(port), LOG_LEVEL: 'debug' };
  const program = new Program('all', env, join(folder, 'server.log'));
  const kept = (file: string) => readFileSync(join(folder, file), 'utf8').trim();
  const url = `http://127.0.0.1:${port}`;
  return {
    folder,
    url,
    program,
    admin: () => new Caller([url], kept('admin.key')),
    databaseUrl: () =>
      `postgres://palimpsest:${kept('postgres.password')}@127.0.0.1:${kept('postgres.port')}/palimpsest`,
    redisUrl: () => `redis://:${kept('redis.password')}@127.0.0.1:${kept('redis.port')}/0`,
    logs: () =>
      [...filesIn(join(folder, 'logs')), join(folder, 'server.log')].map((file) => readFileSync(file, 'utf8')).join(''),
    processes: () => processesOf(folder).filter((pid) => pid !== program.pid && pid !== process.pid),
    async remove() {
      await program.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());

/** Processes whose arguments, working folder or environment name the folder. Linux tells them. */
function processesOf(folder: string): readonly number[] {
  const names = (pid: string, part: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/${part}`, 'utf8').includes(folder);
    } catch {
      return false; // It has ended, or is a kernel thread.
    }
  };
  const worksIn = (pid: string): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && !isZombie(name))
    .filter((pid) => names(pid, 'cmdline') || names(pid, 'environ') || worksIn(pid))
    .map(Number);
}

/** In a container nobody may ever collect it. */
function isZombie(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.charAt(stat.lastIndexOf(')') + 2) === 'Z';
  } catch {
    return true;
  }
}
