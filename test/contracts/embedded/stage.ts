import { Redis } from 'ioredis';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { isAlive } from '../../../src/infrastructure/embedded/process-identity.js';
import { startEmbedded, type Embedded } from '../../../src/infrastructure/embedded/embedded.js';

export interface Urls {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

interface Recorded {
  readonly name: string;
  readonly pid: number;
  readonly identity: string;
}

const need = { postgres: true, redis: true, eventstore: false };

/** Homes, servers and backends of one suite; `clear` ends and removes them all. */
export class Stage {
  readonly #homes: string[] = [];
  readonly #servers: ChildProcess[] = [];
  readonly #started: Embedded[] = [];
  static #template: string | undefined;
  readonly logged: string[] = [];

  /** An empty folder. */
  newHome(): string {
    const home = mkdtempSync(join(tmpdir(), 'palimpsest-embedded-'));
    this.#homes.push(home);
    return home;
  }

  /** A home whose new databases are made already: a copy, because making them takes longer than most tests. */
  async usedHome(): Promise<string> {
    Stage.#template ??= await makeTemplate();
    const home = this.newHome();
    execFileSync('cp', ['-a', `${Stage.#template}/.`, home]);
    return home;
  }

  static removeTemplate(): void {
    if (Stage.#template !== undefined) rmSync(Stage.#template, { recursive: true });
  }

  /** Starts the backends in this very process. */
  async start(
    home: string,
    also = { eventstore: false },
  ): Promise<Urls & { eventstoreUrl: string; stop: () => Promise<void> }> {
    const embedded = await startEmbedded({ home, need: { ...need, ...also }, log: (line) => this.logged.push(line) });
    this.#started.push(embedded);
    const { databaseUrl = '', redisUrl = '', eventstoreUrl = '', stop } = embedded;
    return { databaseUrl, redisUrl, eventstoreUrl, stop };
  }

  /** Starts them in a process that can be killed. Resolves when they serve, or with the words of the refusal. */
  async startServer(home: string, ...args: string[]): Promise<ServerProcess> {
    const child = spawn(process.execPath, [join(__dirname, 'server.cjs'), home, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#servers.push(child);
    for await (const line of createInterface(child.stdout)) {
      return { ...(JSON.parse(line) as Urls & { refused?: string }), kill: () => child.kill('SIGKILL') };
    }
    throw new Error('The server said nothing.');
  }

  async clear(): Promise<void> {
    await Promise.all(this.#started.splice(0).map(({ stop }) => stop()));
    for (const server of this.#servers.splice(0)) server.kill('SIGKILL');
    for (const home of this.#homes.splice(0)) {
      const left = processesOf(home);
      await until(() => left.every((process) => !isRunning(process)));
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    }
    this.logged.length = 0;
  }
}

async function makeTemplate(): Promise<string> {
  const template = mkdtempSync(join(tmpdir(), 'palimpsest-embedded-'));
  const { stop } = await startEmbedded({ home: template, need, log: () => undefined });
  await stop();
  return template;
}

export interface ServerProcess extends Urls {
  readonly refused?: string;
  readonly kill: () => void;
}

/** What runs for a home, as its keeper wrote it down. */
export function processesOf(home: string): Recorded[] {
  try {
    return JSON.parse(readFileSync(join(home, 'processes.json'), 'utf8')) as Recorded[];
  } catch {
    return [];
  }
}

export function processOf(home: string, name: string): Recorded {
  const found = processesOf(home).find((process) => process.name === name);
  if (!found) throw new Error(`No ${name} runs.`);
  return found;
}

export const isRunning = ({ pid, identity }: Recorded): boolean => isAlive(pid, identity);

/** Waits for a state. The test's own time limit ends a wait for one that never comes. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(20);
}

export async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

export async function redis<T>(url: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, {
    lazyConnect: true,

    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    client.disconnect();
  }
}

/** What Redis says to a stranger. */
export async function firstAnswer(url: string, command: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(`${command}\r\n`));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

export const serves = ({ databaseUrl, redisUrl }: Urls): Promise<boolean> =>
  Promise.all([query(databaseUrl, 'select 1'), redis(redisUrl, (client) => client.ping())]).then(
    () => true,
    () => false,
  );
