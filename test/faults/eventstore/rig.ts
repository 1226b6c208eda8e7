import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { postgresBinaries } from '../../../src/infrastructure/embedded/postgres-binaries.js';
import { serviceUser } from '../../../src/infrastructure/embedded/service-user.js';
import { until } from '../../support/until.js';
import type { WalPlace } from './wal.js';

const SERVER = join(__dirname, '../../../src/infrastructure/embedded/eventstore/process.ts');
const quiet = (): undefined => undefined;

/** A Postgres and an event store of a run's own, to be killed without warning and brought back at the same address. */
export class Rig {
  private readonly folder = mkdtempSync(join(tmpdir(), 'palimpsest-chaos-'));
  private readonly runAs = serviceUser(quiet);
  private readonly binaries = postgresBinaries(this.runAs, quiet);
  private postgres: ChildProcess | undefined;
  private server: ChildProcess | undefined;
  private databasePort = 0;
  private serverPort = 0;

  /** @param settings Of Postgres, as `name=value`, beyond what every run has. */
  constructor(private readonly settings: readonly string[] = []) {}

  get url(): string {
    return `esdb://127.0.0.1:${this.serverPort}?tls=false`;
  }

  get databaseUrl(): string {
    return `postgres://chaos@127.0.0.1:${this.databasePort}/postgres`;
  }

  async start(): Promise<void> {
    if (this.runAs) chownSync(this.folder, this.runAs.uid, this.runAs.gid);
    const data = join(this.folder, 'data');
    execFileSync(join(this.binaries, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'chaos', '-N'], {
      ...this.owner(),
      stdio: 'ignore',
    });
    [this.databasePort, this.serverPort] = [await freePort(), await freePort()];
    await this.startPostgres();
    await this.startServer();
  }

  async killServer(): Promise<void> {
    await this.killServerForGood();
    await this.startServer();
  }

  async killServerForGood(): Promise<void> {
    await killed(this.server);
  }

  async killPostgres(): Promise<void> {
    await killWithChildren(this.postgres);
    await this.startPostgres();
  }

  /** Where the log of Postgres ends now. */
  async endOfWal(): Promise<WalPlace> {
    const client = new Client({ connectionString: this.databaseUrl });
    await client.connect();
    try {
      const { rows } = await client.query<WalPlace>(
        `select file_name segment, file_offset as offset from pg_walfile_name_offset(pg_current_wal_insert_lsn())`,
      );
      if (!rows[0]) throw new Error('Postgres does not say where its log ends.');
      return rows[0];
    } finally {
      await client.end();
    }
  }

  /** Kills Postgres, and the event store first if asked, and brings back what was killed after `meanwhile`. */
  async powerCut(also: { server: boolean }, meanwhile: (walFolder: string) => Promise<void>): Promise<void> {
    if (also.server) await killed(this.server);
    await killWithChildren(this.postgres);
    await meanwhile(join(this.folder, 'data', 'pg_wal'));
    await this.startPostgres();
    if (also.server) await this.startServer();
  }

  async remove(): Promise<void> {
    await killed(this.server);
    await killWithChildren(this.postgres);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Starts it until it stays: what a killed one has left behind may be in the way for a moment. */
  private async startPostgres(): Promise<void> {
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${this.databasePort}`,
      'unix_socket_directories=',
      'fsync=on',
      ...this.settings,
    ];
    const args = ['-D', join(this.folder, 'data'), ...settings.flatMap((setting) => ['-c', setting])];
    const spawned = (): ChildProcess =>
      spawn(join(this.binaries, 'postgres'), args, { ...this.owner(), stdio: 'ignore' });
    let postgres = spawned();
    await until(async () => {
      if (hasEnded(postgres)) postgres = spawned();
      return answers(this.databaseUrl);
    }, 60_000);
    this.postgres = postgres;
  }

  private async startServer(): Promise<void> {
    const server = spawn(process.execPath, ['--import', 'tsx', SERVER], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: this.databaseUrl,
        EVENTSTORE_PORT: String(this.serverPort),
        EXIT_WITH_PARENT: '1',
      },
    });
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.stdout.once('data', () => resolve());
      server.once('exit', (code) => reject(new Error(`the event store ended with ${String(code)}`))); // too late is fine
    });
  }

  private owner(): { uid?: number; gid?: number; cwd: string } {
    return { cwd: this.folder, ...(this.runAs ? { uid: this.runAs.uid, gid: this.runAs.gid } : {}) };
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function killed(child: ChildProcess | undefined): Promise<void> {
  if (!child || hasEnded(child)) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}

/** A process and all that it has started, at once: as when the machine loses them. */
async function killWithChildren(child: ChildProcess | undefined): Promise<void> {
  child?.kill('SIGSTOP'); // so that it starts no other meanwhile
  for (const pid of child?.pid === undefined ? [] : childrenOf(child.pid)) kill(pid);
  await killed(child);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was gone already.
  }
}

/** Linux tells a process's children. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function answers(databaseUrl: string): Promise<true | undefined> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', quiet);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(quiet);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo; // It listens on TCP.
      server.close(() => resolve(port));
    });
  });
}
