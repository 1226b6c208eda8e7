import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.js';
import { StartupError } from '../startup-error.js';

/** What Redis says last when its log of writes ends in the midst of one, and it may not pass over that. */
export const isTorn = (lastWords: string): boolean =>
  lastWords.includes('Unexpected end of file reading the append only file');

interface Torn {
  /** Path of `redis-server`, which is the checking tool as well, by the name it is called. */
  readonly command: string;
  readonly folder: string;
  readonly runAs: Place['runAs'];
  readonly logFile: string;
}

/** Cuts the unfinished write off the log, with the whole transaction that it was part of. Nothing of it was acknowledged. */
export async function takeBackTornWrite({ command, folder, runAs, logFile }: Torn): Promise<void> {
  const log = openSync(logFile, 'a');
  const manifest = join(folder, 'appendonlydir/appendonly.aof.manifest');
  const code = await new Promise<number | null>((resolve, reject) => {
    const tool = spawn(command, ['--fix', manifest], {
      argv0: 'redis-check-aof',
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      stdio: ['pipe', log, log],
      ...(runAs && { uid: runAs.uid, gid: runAs.gid }),
    });
    tool.once('error', reject);
    tool.once('close', resolve);
    tool.stdin?.on('error', () => undefined); // It has ended, which its code tells.
    tool.stdin?.end('y\n'); // It asks before it cuts.
  }).finally(() => closeSync(log));
  if (code !== 0) {
    throw new StartupError(`redis was cut off in the midst of a write that could not be taken back, see ${logFile}.`);
  }
}
