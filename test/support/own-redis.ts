import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisBinary } from '../../src/infrastructure/embedded/redis-binary.js';
import { eventually } from './eventually.js';

/** A Redis of a suite's own, to be killed and brought back. It keeps its data, as durable as the product asks for. */
export interface OwnRedis {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** How many bytes of its log of writes lie on disk. */
  written(): number;
  /** Kills it and cuts this many bytes off what it had written, as a power cut may; what is left may be asked to start. */
  loseTail(bytes: number): Promise<void>;
  /** Kills it and removes its data. */
  remove(): Promise<void>;
}

export async function ownRedis(): Promise<OwnRedis> {
  const command = await redisBinary(() => undefined);
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-redis-'));
  const port = await freePort();
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'];
  let running: ChildProcess | undefined;

  const redis: OwnRedis = {
    url: `redis://127.0.0.1:${port}/0`,
    async start() {
      const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, ...durable];
      running = spawn(command, args, { stdio: 'ignore' });
      await eventually(() => answers(port), Boolean);
    },
    async kill() {
      const ended = running;
      running = undefined;
      if (!ended) return;
      const exit = new Promise((resolve) => ended.once('exit', resolve));
      ended.kill('SIGKILL');
      await exit;
    },
    written: () => statSync(writes(folder)).size,
    async loseTail(bytes) {
      await redis.kill();
      truncateSync(writes(folder), Math.max(0, redis.written() - bytes));
    },
    async remove() {
      await redis.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await redis.start();
  return redis;
}

/** The newest of its files, in which its last writes are. */
function writes(folder: string): string {
  const parts = readdirSync(join(folder, 'appendonlydir')).filter((file) => file.endsWith('.incr.aof'));
  return join(folder, 'appendonlydir', parts.sort().at(-1) ?? '');
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.on('data', (data) => {
      resolve(data.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo; // Listening on TCP.
      server.close(() => resolve(port));
    });
  });
}
