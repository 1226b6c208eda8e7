import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { StartupError } from '../startup-error.js';

/** What finding Redis needs to know of the machine. */
export interface Machine {
  readonly path: string;
  readonly isRoot: boolean;
  run(command: string, args: readonly string[]): Promise<boolean>;
}

/** The full path of `redis-server`: the one on PATH, else one that apt installs when it can. */
export async function redisBinary(log: (line: string) => void, machine = thisMachine()): Promise<string> {
  const found = onPath('redis-server', machine);
  if (found) return found;
  const apt = onPath('apt-get', machine);
  if (apt && machine.isRoot) {
    log('Installing redis-server with apt-get; this takes a moment.');
    await machine.run(apt, ['update', '-qq']);
    const options = ['-qq', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
    await machine.run(apt, ['install', ...options, 'redis-server']);
    const installed = onPath('redis-server', machine);
    if (installed) return installed;
    throw new StartupError('apt-get could not install redis-server: install it by hand, or set REDIS_URL.');
  }
  throw new StartupError(`redis-server was not found: install it (${advice(apt !== undefined)}), or set REDIS_URL.`);
}

const advice = (hasApt: boolean): string =>
  hasApt ? 'sudo apt-get install redis-server' : 'brew install redis, or your system\'s package "redis"';

function onPath(command: string, { path }: Machine): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const thisMachine = (): Machine => ({
  // The folders of system programs are missing from some users' PATH.
  path: [process.env['PATH'] ?? '', '/usr/bin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'].join(delimiter),
  isRoot: process.getuid?.() === 0,
  run: (command, args) =>
    new Promise((resolve) => {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
      let complaints = '';
      child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
      child.once('error', () => resolve(false));
      child.once('close', (code) => {
        if (code !== 0) process.stderr.write(complaints); // apt warns of much that is of no concern when it works.
        resolve(code === 0);
      });
    }),
});
