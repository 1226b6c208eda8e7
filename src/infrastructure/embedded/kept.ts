import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { compiled } from './compiled.js';
import type { FromKeeper, Program, ToKeeper } from './keeper-messages.js';
import { endLeftovers } from './leftovers.js';

/** A program that runs under the keeper. */
export interface Kept {
  readonly pid: number;
  /** Resolves, with a few words on how, once the process is gone. Never rejects. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export interface KeeperOptions {
  /** Where the keeper writes down what runs, for {@link endLeftovers}. */
  readonly recordFile: string;
  readonly logFile: string;
  /** Removed by the keeper once everything has ended: for homes that are thrown away. */
  readonly removeAtEnd?: readonly string[];
}

interface Entry {
  readonly onLine: (line: string) => void;
  readonly started: (pid: number) => void;
  readonly end: (how: string) => void;
}

/** The server's end of the channel to its keeper. A keeper that was killed is replaced with the next `run`. */
export class Keeper {
  #process: ChildProcess | undefined;
  #gone: Promise<void> = Promise.resolve();
  readonly #entries = new Map<number, Entry>();
  #nextId = 1;

  constructor(private readonly options: KeeperOptions) {}

  /** Starts the keeper ahead of the first program, so that the two do not wait for each other. */
  open(): void {
    this.#process ??= this.#fork();
  }

  /** Runs a program. A command that cannot be started is one that ended at once, with pid 0. */
  async run(program: Program, onLine: (line: string) => void = () => undefined): Promise<Kept> {
    await this.#settled();
    const id = this.#nextId++;
    let end: Entry['end'] = () => undefined;
    const ended = new Promise<string>((resolve) => (end = resolve));
    const pid = await new Promise<number>((started) => {
      this.#entries.set(id, { onLine, started, end });
      this.#tell({ kind: 'run', id, program });
      void ended.then(() => started(0));
    });
    const stop = async () => {
      if (this.#entries.has(id)) this.#tell({ kind: 'stop', id });
      await ended;
    };
    return { pid, ended, stop };
  }

  /** Ends every program and the keeper. */
  async close(): Promise<void> {
    if (this.#process?.connected) this.#process.disconnect();
    await this.#gone;
  }

  async #settled(): Promise<void> {
    if (!this.#process) await this.#gone;
    this.open();
  }

  #fork(): ChildProcess {
    const { recordFile, logFile, removeAtEnd = [] } = this.options;
    const log = openSync(logFile, 'a', 0o600);
    const keeper = fork(compiled('keeper'), [recordFile, ...removeAtEnd], {
      detached: true,
      execArgv: [],
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    // The only speaker on this channel is keeper.ts.
    keeper.on('message', (message) => this.#hear(message as FromKeeper));
    this.#gone = new Promise((resolve) => {
      const lost = () => {
        this.#process = undefined;
        void this.#endOrphans().then(resolve);
      };
      keeper.once('exit', lost);
      keeper.once('error', lost);
    });
    return keeper;
  }

  /** After a keeper's own violent death its programs still run. After an orderly one there is nothing to do. */
  async #endOrphans(): Promise<void> {
    await endLeftovers(this.options.recordFile);
    for (const { end } of this.#entries.values()) end('its keeper ended');
    this.#entries.clear();
  }

  #hear(message: FromKeeper): void {
    const entry = this.#entries.get(message.id);
    if (!entry) return;
    if (message.kind === 'started') entry.started(message.pid);
    else if (message.kind === 'line') entry.onLine(message.line);
    else {
      this.#entries.delete(message.id);
      entry.end(message.how);
    }
  }

  #tell(message: ToKeeper): void {
    // A failure to send means the keeper is dying; its exit settles every entry.
    this.#process?.send(message, () => undefined);
  }
}
