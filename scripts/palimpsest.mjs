// Installs and builds what is missing, then becomes the command line of the product.
import { spawnSync } from 'node:child_process';
import Module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './ensure-installed.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const main = join(here, '../dist/src/main.js');

/** Runs the product in this very process: whoever stops or kills `npm start` stops the server, and its exit code is ours. */
async function palimpsest(args) {
  await ensureInstalled();
  // The compiler is loaded elsewhere, so that the server does not carry its memory.
  const { status } = spawnSync(process.execPath, [join(here, 'build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
  process.setSourceMapsEnabled(true);
  process.argv = [process.execPath, main, ...args];
  Module.runMain();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await palimpsest(process.argv.slice(2));
