import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What other users of the machine see of it: its arguments. */
  readonly commandLine: string;
}

const main = join(__dirname, '../../dist/src/main.js');

/** Runs the command line as a program of its own, without anything of this process's environment but PATH. */
export function runCli(
  args: readonly string[],
  { env = {}, stdin = '' }: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): Promise<CliRun> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', PALIMPSEST_CONFIG: '/nonexistent/config.json', ...env },
  });
  const commandLine = child.pid === undefined ? '' : readFileSync(`/proc/${child.pid}/cmdline`, 'utf8');
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => undefined); // A program that reads nothing may have ended before.
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), commandLine }),
    );
  });
}
