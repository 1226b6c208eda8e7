import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../src/infrastructure/embedded/embedded.js';

const all = ['start', 'rest', 'scratchpads', 'live', 'projection', 'eventstore', 'grpc', 'filters', 'enrollment'];

/** `npm run bench`, or `npm run bench -- rest start`: each in a process of its own, on throw-away backends. */
async function main(names: readonly string[]): Promise<void> {
  spawnSync(process.execPath, [join(__dirname, '../scripts/build.mjs')], { stdio: 'inherit' });
  const home = mkdtempSync(join(tmpdir(), 'palimpsest-bench-'));
  const need = { postgres: true, redis: true, eventstore: false };
  const backends = await startEmbedded({ home, need, log: () => undefined, throwAway: true });
  const env = { ...process.env, TEST_DATABASE_URL: backends.databaseUrl, TEST_REDIS_URL: backends.redisUrl };
  try {
    for (const name of names) {
      const file = join(__dirname, `${name}.ts`);
      if (!existsSync(file)) throw new Error(`There is no benchmark "${name}": choose from ${all.join(', ')}.`);
      console.log(`\n${name}`);
      const { status } = spawnSync(process.execPath, ['--require', 'tsx/cjs', file], { stdio: 'inherit', env });
      if (status !== 0) process.exitCode = 1;
    }
  } finally {
    await backends.stop();
  }
}

const chosen = process.argv.slice(2);
void main(chosen.length > 0 ? chosen : all.filter((name) => existsSync(join(__dirname, `${name}.ts`))));
