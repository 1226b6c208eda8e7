import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Home } from '../../../src/infrastructure/embedded/home.js';
import { onKeptPort } from '../../../src/infrastructure/embedded/ports.js';

let home: Home;
beforeEach(() => {
  home = { path: mkdtempSync(join(tmpdir(), 'palimpsest-ports-')), id: 'any', release: () => undefined };
});
afterEach(() => rmSync(home.path, { recursive: true }));

describe('the port of a backend', () => {
  it('stays the same from start to start', async () => {
    const first = await onKeptPort(home, 'redis', (port) => Promise.resolve(port));

    await expect(onKeptPort(home, 'redis', (port) => Promise.resolve(port))).resolves.toBe(first);
  });

  it('changes when another program has taken it', async () => {
    const first = await onKeptPort(home, 'redis', (port) => Promise.resolve(port));
    const other = await listen(first);

    const second = await onKeptPort(home, 'redis', (port) => Promise.resolve(port));
    other.close();

    expect(second).not.toBe(first);
  });

  it('is another one when it was taken between the look and the launch', async () => {
    const taken: Server[] = [];
    const tried: number[] = [];

    await onKeptPort(home, 'redis', async (port) => {
      tried.push(port);
      if (taken.length > 0) return;
      taken.push(await listen(port));
      throw new Error('Address in use.');
    });
    taken.forEach((server) => server.close());

    expect(new Set(tried).size).toBe(2);
  });

  it('is not the reason when a launch fails on a free one', async () => {
    const tried: number[] = [];

    const launched = onKeptPort(home, 'redis', (port) => {
      tried.push(port);
      return Promise.reject(new Error('No room on the disk.'));
    });

    await expect(launched).rejects.toThrow('No room on the disk.');
    expect(tried).toHaveLength(1);
  });
});

async function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
