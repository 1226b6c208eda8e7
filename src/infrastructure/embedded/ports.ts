import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Home } from './home.js';
import { StartupError } from '../startup-error.js';

const host = '127.0.0.1';

/**
 * Runs `launch` on this home's port for `name`: the one of last time when it is still free, so that clients find their
 * way back, else a new one. Somebody else may take a port between the look and the launch: then another is tried.
 */
export async function onKeptPort<T>(home: Home, name: string, launch: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await keptPort(home, name);
    try {
      return await launch(port);
    } catch (error) {
      if (attempt === 4 || (await isFree(port))) throw error;
    }
  }
}

async function keptPort(home: Home, name: string): Promise<number> {
  const file = join(home.path, `${name}.port`);
  const before = existsSync(file) ? Number(readFileSync(file, 'utf8')) : NaN;
  if (Number.isInteger(before) && before > 1023 && before < 65536 && (await isFree(before))) return before;
  const port = await freePort();
  writeFileSync(file, String(port), { mode: 0o600 });
  return port;
}

/** Below the range from which systems take ports for outgoing connections, so that a kept one is rarely lost to them. */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new StartupError(`No free port was found on ${host} between 20000 and 32000.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
