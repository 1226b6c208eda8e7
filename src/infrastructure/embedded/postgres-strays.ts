import { existsSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const attempts = ['SIGQUIT', 'SIGKILL'] as const;
const patienceMs = 2000;

/**
 * Ends what a killed PostgreSQL left: a backend in the midst of a long query does not notice the end of its parent, and
 * no new PostgreSQL starts while one holds on. They are known by their working folder, which is the data's. Once none
 * is left, the lock file goes too: the number in it may be that of a zombie or, after a reboot, of any other process,
 * and PostgreSQL would take either for its predecessor.
 */
export async function endStrays(data: string): Promise<void> {
  const lockFile = join(data, 'postmaster.pid');
  if (process.platform !== 'linux' || !existsSync(lockFile)) return;
  const folder = realpathSync(data);
  for (const signal of attempts) {
    for (const pid of processesIn(folder)) killQuietly(pid, signal);
    for (let waited = 0; waited < patienceMs && processesIn(folder).length > 0; waited += 20) await pause(20);
  }
  if (processesIn(folder).length === 0) rmSync(lockFile, { force: true });
}

const processesIn = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && workingFolder(name) === folder)
    .map(Number);

function workingFolder(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined; // Gone by now, or somebody else's.
  }
}

function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}
