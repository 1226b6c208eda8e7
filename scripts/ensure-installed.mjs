// Installs the packages when they are missing or older than package-lock.json. Has no dependencies, so that it runs in a fresh clone.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Resolves once node_modules fits package-lock.json. Ends the process with npm's exit code when npm fails. */
export async function ensureInstalled() {
  refuseOldNode();
  if (isInstalled()) return;
  await withLock('install', root, () => {
    if (isInstalled()) return; // Somebody else did it while this process waited.
    console.error('Installing the packages with "npm ci"; this takes a moment the first time.');
    const { status, error } = spawnSync('npm', ['ci', '--no-progress'], { cwd: root, stdio: ['ignore', 2, 2] });
    if (error) console.error(`npm could not be run: ${error.message}`);
    if (status !== 0) process.exit(status ?? 1);
  });
}

function isInstalled() {
  const installed = statSync(join(root, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
  return installed !== undefined && installed.mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Palimpsest needs Node.js 20.19 or later; this is ${process.versions.node}.`);
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureInstalled();
