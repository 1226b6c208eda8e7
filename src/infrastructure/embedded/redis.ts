import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { untilServing, type Backend, type BackendNeeds } from './backend.js';
import { keptPassword, lastLogLine, logFile } from './home.js';
import type { Kept } from './kept.js';
import { privateFolder } from './place.js';
import { onKeptPort } from './ports.js';
import { redisBinary } from './redis-binary.js';
import { StartupError } from '../startup-error.js';
import { supervise } from './supervise.js';
import { isTorn, takeBackTornWrite } from './torn-write.js';

const name = 'redis';

/** Starts Redis on this home's data: every write is on disk before it is answered, and nothing is ever evicted. */
export async function startRedis(needs: BackendNeeds): Promise<Backend> {
  const { home, place, keeper } = needs;
  const command = await redisBinary(needs.log);
  const folder = privateFolder(join(place.folder, name), place.runAs);
  const password = keptPassword(home, name);

  const serve = async (port: number): Promise<Kept> => {
    const file = join(folder, 'redis.conf');
    writeFileSync(file, configuration({ folder, port, password }), { mode: 0o600 });
    if (place.runAs) chownSync(file, place.runAs.uid, place.runAs.gid);
    const kept = await keeper.run({
      name,
      command,
      args: [file],
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      runAs: place.runAs,
      logFile: logFile(home, name),
      stopSignals: ['SIGTERM'],
    });
    return untilServing({ name, home, kept, serves: () => serves(port, password) });
  };
  const launch = async (port: number): Promise<Kept> => {
    try {
      return await serve(port);
    } catch (error) {
      if (!isTorn(lastLogLine(home, name))) throw error;
      await takeBackTornWrite({ command, folder, runAs: place.runAs, logFile: logFile(home, name) });
      needs.log('redis was cut off in the midst of a write, which was taken back.');
      return serve(port);
    }
  };
  const { kept, port } = await onKeptPort(home, name, async (port) => ({ kept: await launch(port), port }));
  return { url: urlOf(port, password), stop: supervise(name, kept, () => launch(port), needs) };
}

/** Where the Redis of a home serves, for a tool beside its server; undefined when the home has none. */
export function redisUrlOf(home: string): string | undefined {
  try {
    const [port, password] = ['port', 'password'].map((what) =>
      readFileSync(join(home, `${name}.${what}`), 'utf8').trim(),
    );
    return urlOf(Number(port), password ?? '');
  } catch {
    return undefined;
  }
}

const urlOf = (port: number, password: string): string => `redis://:${password}@127.0.0.1:${port}/0`;

/** The password stands in this file, not among the arguments, which every user of the machine can read. */
const configuration = ({ folder, port, password }: { folder: string; port: number; password: string }): string =>
  [
    'bind 127.0.0.1',
    `port ${port}`,
    'protected-mode yes',
    `requirepass ${password}`,
    'daemonize no',
    `dir ${JSON.stringify(folder)}`,
    'appendonly yes',
    'appendfsync always',
    // A torn end is taken back on disk before it serves: docs/decisions/0041-torn-transactions.md
    'aof-load-truncated no',
    'no-appendfsync-on-rewrite no',
    'save ""',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');

/** True once it answers a PING; false while it does not listen or still loads its data. */
function serves(port: number, password: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`AUTH ${password}\r\nPING\r\nQUIT\r\n`));
    socket.setTimeout(5000, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', () => undefined); // Followed by close.
    socket.on('close', () => {
      if (answer.startsWith('-WRONGPASS')) reject(new StartupError('Another Redis answers on the port of this home.'));
      else resolve(answer.includes('+PONG'));
    });
  });
}
