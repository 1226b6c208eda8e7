// Installs and builds what is missing, then becomes the command line of the product, in this very process: whoever
// stops or kills `npm start` stops the server, and the server's exit code is npm's.
import { spawnSync } from 'node:child_process';
import Module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './ensure-installed.mjs';

const here = dirname(fileURLToPath(import.meta.url));

ensureInstalled();
// The compiler runs elsewhere, so that the server does not carry its memory.
const { status } = spawnSync(process.execPath, [join(here, 'build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
if (status !== 0) process.exit(status ?? 1);
process.setSourceMapsEnabled(true);
process.argv[1] = join(here, '../dist/src/main.js');
Module.runMain();
