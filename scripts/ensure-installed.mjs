// Installs the packages when they do not fit package-lock.json. Has no dependencies, so that it runs in a fresh clone.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const self = fileURLToPath(import.meta.url);
const root = join(dirname(self), '..');
const lockFile = join(root, 'package-lock.json');
const stampFile = join(root, 'node_modules/.installed-from');

/** Returns once node_modules fits package-lock.json. Ends the process with npm's exit code when npm fails. */
export function ensureInstalled() {
  refuseOldNode();
  if (isInstalled()) return;
  // In a process of its own, which keeps the lock until npm has ended, also when this one is killed meanwhile.
  const { status } = spawnSync(process.execPath, [self], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}

const install = () =>
  withLock('install', root, () => {
    if (isInstalled()) return; // Somebody else did it while this process waited.
    console.error('Installing the packages with "npm ci"; this takes a moment the first time.');
    const { status, error } = spawnSync('npm', ['ci', '--no-progress'], { cwd: root, stdio: ['ignore', 2, 2] });
    if (error) console.error(`npm could not be run: ${error.message}`);
    if (status !== 0) process.exit(status ?? 1);
    writeFileSync(stampFile, digest());
  });

/** By content, or by time when somebody ran npm by hand: a fresh checkout makes the lock file look new. */
function isInstalled() {
  const installed = statSync(join(root, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
  if (installed === undefined) return false;
  if (installed.mtimeMs >= statSync(lockFile).mtimeMs) return true;
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === digest();
}

const digest = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex');

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Palimpsest needs Node.js 20.19 or later; this is ${process.versions.node}.`);
  process.exit(1);
}

if (process.argv[1] === self) {
  refuseOldNode();
  await install();
}
