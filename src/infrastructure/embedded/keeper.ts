/**
 * The keeper: a small process of its own that runs the backends and outlives the server by the moment it takes to end
 * them. It learns of the server's end from the closing of the channel between them, which the kernel does however the
 * server died. Started as `keeper.js <record file> [folder to remove at the end…]`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { FromKeeper, Program, ToKeeper } from './keeper-messages.js';
import { patienceMs, record, type Leftover } from './leftovers.js';
import { identityOf } from './process-identity.js';

interface Running {
  readonly program: Program;
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
}

const [recordFile = '', ...throwAway] = process.argv.slice(2);
const running = new Map<number, Running>();
let finishing = false;

function run(id: number, program: Program): void {
  const log = openSync(program.logFile, 'a', 0o600);
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env: program.env,
    // A session of its own: Ctrl-C in the terminal reaches the server alone, which then stops the backends in order.
    detached: true,
    stdio: program.talks ? ['pipe', 'pipe', log] : ['ignore', log, log],
    ...(program.runAs ?? {}),
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => {
    const end = (how: string) => {
      running.delete(id);
      writeRecord();
      tell({ kind: 'ended', id, how });
      resolve();
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(signal ? `signal ${signal}` : `exit code ${code ?? 'unknown'}`));
  });
  if (child.pid === undefined) return;
  running.set(id, { program, child, ended });
  writeRecord();
  if (child.stdout) createInterface(child.stdout).on('line', (line) => tell({ kind: 'line', id, line }));
  tell({ kind: 'started', id, pid: child.pid });
}

async function stop(id: number): Promise<void> {
  const found = running.get(id);
  if (!found) return;
  for (const signal of [...found.program.stopSignals, 'SIGKILL' as const]) {
    found.child.kill(signal);
    if (await endsWithin(found.ended, patienceMs)) return;
  }
}

async function endsWithin(ended: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const inTime = await Promise.race([ended.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}

function writeRecord(): void {
  const processes: Leftover[] = [];
  for (const { program, child } of running.values()) {
    const identity = child.pid === undefined ? undefined : identityOf(child.pid);
    if (child.pid === undefined || identity === undefined) continue;
    processes.push({ name: program.name, pid: child.pid, identity, signals: [...program.stopSignals] });
  }
  const self = identityOf(process.pid);
  // Itself last and without signals: it ends once the others have, and must not be replaced before.
  if (self !== undefined) processes.push({ name: 'keeper', pid: process.pid, identity: self, signals: [] });
  record(recordFile, processes);
}

function tell(message: FromKeeper): void {
  // A server that is gone needs no news.
  if (process.connected) process.send?.(message, () => undefined);
}

async function finish(): Promise<void> {
  finishing = true;
  await Promise.all([...running.keys()].map(stop));
  rmSync(recordFile, { force: true });
  for (const folder of throwAway) rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}

// Only the closing of the channel ends it; a signal that is sent to every process alike must not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => void finish());
// The only speaker on this channel is kept.ts.
process.on('message', (message) => handle(message as ToKeeper));
writeRecord();

function handle(message: ToKeeper): void {
  if (finishing) return;
  if (message.kind === 'run') run(message.id, message.program);
  else void stop(message.id);
}
