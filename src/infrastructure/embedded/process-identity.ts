import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A mark that tells a process from a later one with the same number, or undefined when no such process runs.
 * A zombie counts as gone: in a container nobody may ever collect it.
 */
export const identityOf = (pid: number): string | undefined =>
  process.platform === 'linux' ? fromProc(pid) : fromPs(pid);

/** Is the process that once had this identity still running? */
export const isAlive = (pid: number, identity: string | undefined): boolean =>
  identity !== undefined && identityOf(pid) === identity;

function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name stands in parentheses and may hold anything, spaces and parentheses too.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startedAtTick = rest[18];
    if (state === 'Z' || state === 'X' || startedAtTick === undefined) return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${startedAtTick}`;
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const [state, ...started] = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}
