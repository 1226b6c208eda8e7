import { execFileSync, spawnSync } from 'node:child_process';
import { StartupError } from '../startup-error.js';

/** An operating-system user that a backend runs as. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

const name = 'palimpsest';

/**
 * The user that the backends run as: under root an unprivileged one of their own, made when it is missing, because
 * PostgreSQL refuses root and nothing else needs it. Undefined, the server's own user, otherwise.
 */
export function serviceUser(log: (line: string) => void): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const found = lookUp();
  if (found) return found;
  log(`Making the system user "${name}" for the embedded backends.`);
  spawnSync('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
    name,
  ]);
  const made = lookUp(); // Also when another start made it at the same moment.
  if (made) return made;
  throw new StartupError(
    `PostgreSQL does not run as root and the system user "${name}" could not be made: add it, run as another user, or set DATABASE_URL.`,
  );
}

/** Can this user enter the folder or run the file? Asked of the system itself, so that every rule it has counts. */
export const canReach = ({ uid, gid }: RunAs, path: string): boolean =>
  spawnSync('test', ['-x', path], { uid, gid, cwd: '/' }).status === 0;

function lookUp(): RunAs | undefined {
  try {
    const ask = (what: string) => Number(execFileSync('id', [what, name], { encoding: 'utf8', stdio: 'pipe' }));
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return undefined;
  }
}
