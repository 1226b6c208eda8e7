import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../src/infrastructure/embedded/embedded.js';

export interface Product {
  readonly url: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly adminKey: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const root = join(__dirname, '../..');

/** The product as it is run: compiled, in a process of its own, on embedded backends of its own. */
export async function startProduct(): Promise<Product> {
  const home = mkdtempSync(join(tmpdir(), 'palimpsest-bench-'));
  const need = { postgres: true, redis: true, eventstore: true };
  const {
    databaseUrl = '',
    redisUrl = '',
    eventstoreUrl = '',
    stop,
  } = await startEmbedded({ home: join(home, 'backends'), need, log: () => undefined, throwAway: true });
  const child = spawn(process.execPath, ['--max-semi-space-size=32', join(root, 'dist/src/main.js'), 'serve'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      PORT: '0',
      PALIMPSEST_HOME: home,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      EVENTSTORE_URL: eventstoreUrl,
      PALIMPSEST_KEK: Buffer.alloc(32, 9).toString('base64'),
    },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const failed = once(child, 'exit').then(() => Promise.reject(new Error('The product did not start.')));
  while (!/Palimpsest serves (\S+)/.test(output)) await Promise.race([once(child.stdout, 'data'), failed]);
  failed.catch(() => undefined);
  return {
    url: /Palimpsest serves (\S+)/.exec(output)?.[1] ?? '',
    databaseUrl,
    redisUrl,
    adminKey: readFileSync(join(home, 'admin.key'), 'utf8').trim(),
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
