import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure, median } from './support/figures.js';

const root = join(__dirname, '..');

/** From `npm start` to a server that answers; the second start of a home is a warm one. */
async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'palimpsest-start-'));
  const taken: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    const begun = performance.now();
    const server = spawn(
      process.execPath,
      ['--max-semi-space-size=32', join(root, 'scripts/palimpsest.mjs'), 'serve'],
      { env: { ...process.env, PALIMPSEST_HOME: home, PORT: '0' }, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    let said = '';
    while (!said.includes('Palimpsest serves')) said += String((await once(server.stdout, 'data'))[0]);
    taken.push(performance.now() - begun);
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
  const [cold = NaN, ...warm] = taken;
  figure('npm start, packages installed, new home', `${(cold / 1000).toFixed(2)} s`);
  figure('npm start, warm', `${(median(warm) / 1000).toFixed(2)} s`, '<= 3 s');
  rmSync(home, { recursive: true, force: true });
}

void main();
