import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An event store in a process of its own, as the product runs it. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  /** Milliseconds from the launch until it served. */
  readonly startedIn: number;
  /** Megabytes of memory in use. */
  memory(): number;
  /** Milliseconds of processor time used so far. */
  cpu(): number;
  stop(): Promise<void>;
}

const TICKS_PER_SECOND = 100; // Linux's USER_HZ on every architecture that Node runs on

export async function startServer(databaseUrl: string, schema: string): Promise<ServerProcess> {
  const began = performance.now();
  const file = join(__dirname, '../../dist/src/infrastructure/embedded/eventstore/process.js');
  const child = spawn(process.execPath, [file], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, EVENTSTORE_SCHEMA: schema, EXIT_WITH_PARENT: '1' },
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (data: Buffer) => resolve(data.toString()));
    child.once('exit', (code) => reject(new Error(`the event store ended with ${String(code)}`)));
  });
  const startedIn = performance.now() - began;
  const { url } = JSON.parse(line) as { url: string }; // the line it prints once it serves
  const pid = child.pid ?? 0;
  return {
    url,
    port: Number(/:(\d+)\?/.exec(url)?.[1]),
    startedIn,
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    cpu() {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}
