// One at a time, between processes. The lock is a listening socket, so it is given up with the process, however it ends.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Runs `work` while no other process runs work of the same name for the same folder. */
export async function withLock(name, folder, work) {
  const id = `palimpsest-${name}-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
  const lock = await take(process.platform === 'linux' ? `\0${id}` : join(tmpdir(), `${id}.sock`));
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function take(path) {
  for (;;) {
    const lock = await listen(path);
    if (lock) return lock;
    if (!path.startsWith('\0') && !(await answers(path)))
      rmSync(path, { force: true }); // What a killed process left.
    else await pause(50);
  }
}

function listen(path) {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(path, () => resolve(server));
  });
}

function answers(path) {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => resolve(false));
  });
}
