import { chmodSync, chownSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.js';
import { canReach, type RunAs } from './service-user.js';
import { StartupError } from '../startup-error.js';

/** Where root keeps what the service user must reach and cannot reach elsewhere. */
export const systemFolder = '/var/lib/palimpsest';

/** The folder below which the backends keep their data, and the user who owns it. */
export interface Place {
  readonly folder: string;
  readonly runAs: RunAs | undefined;
}

/**
 * The data lies in the home, unless the service user cannot enter there (a clone below /root, say): then in a folder of
 * {@link systemFolder} that is named after the home's id. Once chosen it stays.
 */
export function placeFor(home: Home, runAs: RunAs | undefined, log: (line: string) => void): Place {
  const inside = join(home.path, 'data');
  if (!runAs) return { folder: privateFolder(inside, undefined), runAs };
  const outside = join(systemFolder, home.id);
  openToGroup(home.path, runAs);
  if (!existsSync(outside) && canReach(runAs, home.path)) return { folder: privateFolder(inside, runAs), runAs };
  if (existsSync(inside)) {
    throw new StartupError(
      `${inside} can no longer be entered by the user of the embedded backends: open the folders above it again.`,
    );
  }
  log(`The data of this home lies in ${outside}, because the user of the embedded backends cannot enter ${home.path}.`);
  makeSystemFolder();
  return { folder: privateFolder(outside, runAs), runAs };
}

/** Passable for everybody, whatever root's umask is: what is private lies in folders of its own. */
export function makeSystemFolder(): void {
  mkdirSync(systemFolder, { recursive: true });
  chmodSync(systemFolder, 0o755);
}

/** A folder of the backend's own, mode 0700. */
export function privateFolder(path: string, owner: RunAs | undefined): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (owner) chownSync(path, owner.uid, owner.gid);
  return path;
}

/** Lets the service user's group pass through a private home: pass, not list, and the secrets in it stay 0600. */
function openToGroup(home: string, { gid }: RunAs): void {
  if ((statSync(home).mode & 0o077) !== 0) return;
  chownSync(home, 0, gid);
  chmodSync(home, 0o710);
}
