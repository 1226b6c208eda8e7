import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { isAlive } from './process-identity.js';

const leftover = z.object({
  name: z.string(),
  pid: z.number().int().positive(),
  identity: z.string(),
  /** Politest first; each is given `patienceMs` before the next. */
  signals: z.array(z.string()),
});

/** A process as it is written down beside the data, so that whoever comes next can end it. */
export type Leftover = z.infer<typeof leftover>;

/** How long a process may take to obey one signal, in milliseconds. */
export const patienceMs = 15_000;

/** Replaces the record of running processes in one step. */
export function record(file: string, processes: readonly Leftover[]): void {
  writeFileSync(`${file}.new`, JSON.stringify(processes), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Ends every process on record that still runs, and returns the names of those that did. */
export async function endLeftovers(file: string): Promise<string[]> {
  const alive = recorded(file).filter(({ pid, identity }) => isAlive(pid, identity));
  await Promise.all(alive.map(end));
  rmSync(file, { force: true });
  return alive.map(({ name }) => name);
}

function recorded(file: string): Leftover[] {
  try {
    return z.array(leftover).parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return []; // No record: the last stop was a clean one.
  }
}

async function end({ pid, identity, signals }: Leftover): Promise<void> {
  for (const signal of [...signals, 'SIGKILL']) {
    if (!isAlive(pid, identity)) return;
    signalQuietly(pid, signal);
    for (let waited = 0; waited < patienceMs && isAlive(pid, identity); waited += 10) await pause(10);
  }
}

function signalQuietly(pid: number, signal: string): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}
