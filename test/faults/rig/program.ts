import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const main = join(__dirname, '../../../dist/src/main.js');

export type ProgramRole = 'all' | 'api' | 'worker' | 'projector';

/** How a process ended: `code 0`, `SIGKILL`. */
export type Ending = string;

/** The product as a process of its own, to be killed, stopped, frozen and started again with the same settings. */
export class Program {
  private child: ChildProcess | undefined;
  private ending: Promise<Ending> = Promise.resolve('never started');
  private asked = false;
  /** Processes that ended although nobody had asked them to. */
  readonly exits: string[] = [];
  /** Everything that the last process wrote to standard error. */
  errors = '';

  constructor(
    readonly role: ProgramRole,
    private readonly env: Readonly<Record<string, string>>,
    private readonly logFile: string,
  ) {}

  /** Resolves when it serves (or works); `more` is set for this start only. */
  async start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const child = spawn(process.execPath, [main, 'serve', '--role', this.role], {
      env: { PATH: process.env['PATH'], NODE_ENV: 'test', ...this.env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.asked = false;
    this.errors = '';
    child.stderr.on('data', (data: Buffer) => {
      this.errors += data.toString();
      appendFileSync(this.logFile, data);
    });
    this.ending = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        const how = signal ?? `code ${String(code)}`;
        if (!this.asked) this.exits.push(`${this.role} ended by itself: ${how}`);
        if (this.child === child) this.child = undefined;
        resolve(how);
      });
    });
    const ready = new Promise<true>((resolve) => {
      child.stdout.on('data', (data: Buffer) => {
        appendFileSync(this.logFile, data);
        if (/serves http|is at work/.test(data.toString())) resolve(true);
      });
    });
    if ((await Promise.race([ready, this.ending])) !== true)
      throw new Error(`${this.role} did not start: ${this.errors.slice(-400)}`);
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** From here on an end of its own is what is wanted; resolves with how it came. */
  ended(): Promise<Ending> {
    this.asked = true;
    return this.ending;
  }

  kill = (): Promise<Ending> => this.signal('SIGKILL');

  /** An orderly end. */
  stop = (): Promise<Ending> => this.signal('SIGTERM');

  /** A zombie: alive to the system, to its connections and its locks, and not doing anything. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  private signal(name: 'SIGKILL' | 'SIGTERM'): Promise<Ending> {
    const end = this.ended();
    this.child?.kill('SIGCONT');
    this.child?.kill(name);
    return end;
  }
}
