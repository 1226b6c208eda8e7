import { rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * Takes the one lock of a folder, or answers undefined when another process has it. The lock is a listening socket, so
 * the kernel gives it up with the process, however that ends. On Linux its name is abstract and made of the folder's
 * device and inode: no file stays behind, and two paths to one folder meet.
 */
export async function lockFolder(folder: string): Promise<Server | undefined> {
  if (process.platform === 'linux') {
    const { dev, ino } = statSync(folder);
    return listen(`\0palimpsest-home:${dev}:${ino}`);
  }
  const path = join(folder, 'lock.sock');
  const server = await listen(path);
  if (server || (await answers(path))) return server;
  rmSync(path, { force: true }); // What a killed process left.
  return listen(path);
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server.unref()));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
