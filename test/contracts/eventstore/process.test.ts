import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { freshDatabase, type FreshDatabase } from '../../support/database.js';
import { append, freshStream } from './conformance/support.js';

const FILE = join(__dirname, '../../../src/infrastructure/embedded/eventstore/process.ts');

interface Run {
  readonly child: ChildProcess;
  /** The first line it prints. */
  readonly line: Promise<string>;
  readonly ended: Promise<{ code: number | null; said: string }>;
}

describe('an event store as a process of its own', () => {
  let database: FreshDatabase;
  const runs: Run[] = [];
  const run = (env: Record<string, string>): Run => {
    const child = spawn(process.execPath, ['--import', 'tsx', FILE], { env: { PATH: process.env['PATH'], ...env } });
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    const started: Run = {
      child,
      line: new Promise((resolve) => child.stdout.once('data', (data: Buffer) => resolve(data.toString()))),
      ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, said }))),
    };
    runs.push(started);
    return started;
  };
  const urlOf = async ({ line }: Run): Promise<string> => (JSON.parse(await line) as { url: string }).url;

  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(async () => {
    for (const { child, ended } of runs) {
      child.kill('SIGKILL');
      await ended;
    }
    await database.drop();
  });

  it('says where it serves, in one line of JSON, and ends by itself when it is asked to', async () => {
    const process = run({ DATABASE_URL: database.url, EVENTSTORE_SCHEMA: 'reported' });
    const client = EventStoreDBClient.connectionString(await urlOf(process));
    await append(client, freshStream(), [1]);
    await client.dispose();
    process.child.kill('SIGTERM');
    expect((await process.ended).code).toBe(0);
  });

  it('ends with its parent, also while it stands by for another', async () => {
    const env = { DATABASE_URL: database.url, EVENTSTORE_SCHEMA: 'parent', EXIT_WITH_PARENT: '1' };
    const first = run(env);
    await first.line;
    const second = run(env);
    await new Promise((resolve) => second.child.stderr?.once('data', resolve));
    second.child.stdin?.end();
    expect((await second.ended).said).toContain('standing by');
    first.child.stdin?.end();
    expect((await first.ended).code).toBe(0);
  });

  it('scavenges when it gets SIGUSR2, and says so in one line', async () => {
    const process = run({ DATABASE_URL: database.url, EVENTSTORE_SCHEMA: 'signalled' });
    const client = EventStoreDBClient.connectionString(await urlOf(process));
    const stream = freshStream();
    await append(client, stream, [1, 2, 3]);
    await client.setStreamMetadata(stream, { maxCount: 1 });
    const said = new Promise((resolve) =>
      process.child.stderr?.once('data', (data: Buffer) => resolve(JSON.parse(data.toString()))),
    );
    process.child.kill('SIGUSR2');
    expect(await said).toEqual({ msg: 'event store scavenged', streams: 1, events: 2 });
    await append(client, stream, [4]);
    await client.dispose();
  });

  it('is not ended by SIGUSR2 while it stands by', async () => {
    const env = { DATABASE_URL: database.url, EVENTSTORE_SCHEMA: 'signalled-early' };
    const first = run(env);
    await first.line;
    const second = run(env);
    await new Promise((resolve) => second.child.stderr?.once('data', resolve));
    second.child.kill('SIGUSR2');
    await new Promise((resolve) => second.child.stderr?.once('data', resolve));
    first.child.kill('SIGTERM');
    const client = EventStoreDBClient.connectionString(await urlOf(second));
    await append(client, freshStream(), [1]);
    await client.dispose();
  });

  it.each([
    [{}, 'DATABASE_URL is missing'],
    [{ EVENTSTORE_PORT: 'http' }, 'EVENTSTORE_PORT is not a port'],
    [{ EVENTSTORE_HOST: '0.0.0.0' }, 'needs TLS and credentials'],
    [{ EVENTSTORE_TLS_CERT_FILE: '/nowhere' }, 'go together'],
    [{ EVENTSTORE_USERNAME: 'admin', EVENTSTORE_PASSWORD: 'secret' }, 'need TLS'],
    [{ EVENTSTORE_SCAVENGE_HOURS: 'often' }, 'EVENTSTORE_SCAVENGE_HOURS'],
    [{ DATABASE_URL: 'postgres://127.0.0.1:1/none' }, 'ECONNREFUSED'],
  ])('does not start with %j, and says why in one line', async (wrong, reason) => {
    const databaseUrl: Record<string, string> = reason.startsWith('DATABASE_URL') ? {} : { DATABASE_URL: database.url };
    const { code, said } = await run({ ...databaseUrl, ...wrong }).ended;
    expect([code, said.trim().split('\n').length]).toEqual([1, 1]);
    expect(said).toContain(reason);
  });
});
