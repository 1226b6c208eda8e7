import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Server } from 'node:net';
import { join, resolve } from 'node:path';
import { lockFolder } from './home-lock.js';
import { StartupError } from '../startup-error.js';

const longLogBytes = 8 * 1024 * 1024;

/** A locked PALIMPSEST_HOME. */
export interface Home {
  /** Absolute. */
  readonly path: string;
  /** Random, made with the home and kept in it: tells this home from a later one at the same path. */
  readonly id: string;
  release(): void;
}

/** Makes the folder when it is missing, private to its user. Throws {@link StartupError} when it cannot be used. */
export function ensureHome(path: string): string {
  const home = resolve(path);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartupError(`PALIMPSEST_HOME ${home} cannot be used: ${reason(error)}.`);
  }
  const { uid, mode } = statSync(home);
  if (uid !== (process.getuid?.() ?? uid)) {
    // Root could, and would leave files there that the owner's next start cannot open.
    throw new StartupError(`PALIMPSEST_HOME ${home} belongs to another user (id ${uid}): start as that user.`);
  }
  if ((mode & 0o002) !== 0) {
    throw new StartupError(`PALIMPSEST_HOME ${home} can be written by every user: choose a private folder.`);
  }
  return home;
}

/** Takes a home for this process alone, until `release` or the process's end, whichever comes first. */
export async function openHome(path: string): Promise<Home> {
  const home = ensureHome(path);
  const lock = await lockFolder(home);
  if (!lock) throw new StartupError(`PALIMPSEST_HOME ${home} is in use by ${holderOf(home)}.`);
  try {
    writeFileSync(join(home, 'server.pid'), String(process.pid), { mode: 0o600 });
    shelveLongLogs(join(home, 'logs'));
    return { path: home, id: kept(home, 'id', () => randomBytes(8).toString('hex')), release: releaser(lock) };
  } catch (error) {
    lock.close();
    throw error instanceof StartupError ? error : new StartupError(`${home} cannot be used: ${reason(error)}.`);
  }
}

/** A password that is made at first use and kept in the home, readable by the server's user only. */
export const keptPassword = (home: Home, name: string): string =>
  kept(home.path, `${name}.password`, () => randomBytes(24).toString('hex'));

export const logFile = (home: Home, name: string): string => join(home.path, 'logs', `${name}.log`);

/** The last line a backend wrote, to be quoted when it does not start. */
export function lastLogLine(home: Home, name: string): string {
  const file = logFile(home, name);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text.trimEnd().split('\n').at(-1) ?? '';
}

/** A log that has grown long is put aside as `<name>.log.1`, so that it never takes more than twice the limit. */
function shelveLongLogs(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.log'))) {
    const log = join(folder, name);
    if (statSync(log).size > longLogBytes) renameSync(log, `${log}.1`);
  }
}

function kept(home: string, file: string, make: () => string): string {
  const path = join(home, file);
  const before = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (before !== '') return before;
  const made = make();
  writeFileSync(path, made, { mode: 0o600, flush: true });
  return made;
}

const releaser = (lock: Server) => () => void lock.close();

function holderOf(home: string): string {
  try {
    return `the server with process id ${readFileSync(join(home, 'server.pid'), 'utf8')}`;
  } catch {
    return 'another server';
  }
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : 'unknown reason');
