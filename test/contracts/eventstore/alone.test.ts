import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { freePort } from '../../support/free-port.js';
import { selfSigned } from './certificate.js';
import { append, contentsOf, freshStream } from './conformance/support.js';

const ROOT = join(__dirname, '../../..');

/** The code in a document that a stranger would begin with. */
const codeOf = (file: string): string => /```js\n(.*?)```/s.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? '';

describe('`palimpsest eventstore`', () => {
  const home = mkdtempSync(join(tmpdir(), 'palimpsest-alone-'));
  const running: ChildProcess[] = [];

  afterEach(async () => {
    for (const child of running.splice(0)) await stop(child);
  });
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

  /** Starts it without any database, and answers its URL and how to end it. */
  async function start(...options: string[]): Promise<{ url: string; child: ChildProcess }> {
    const child = spawn(process.execPath, [join(ROOT, 'dist/src/main.js'), 'eventstore', ...options], {
      env: { PATH: process.env['PATH'], PALIMPSEST_HOME: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.push(child);
    const [line] = (await once(child.stdout, 'data')) as [Buffer]; // what a stream of bytes emits
    return { url: (JSON.parse(line.toString()) as { url: string }).url, child };
  }

  it('needs no database, and serves the getting-started code as it stands', async () => {
    const port = await freePort();
    await start('--port', String(port));
    const run = (file: string) => runModule(codeOf(file).replace(':2113', `:${port}`));
    expect([await run('docs/eventstore.md'), await run('README.md')]).toEqual([
      { code: 0, said: 'read OrderPlaced { order: 1, total: 12 }\nsubscribed OrderPlaced { order: 1, total: 12 }\n' },
      {
        code: 0,
        said: "Appended event: grpc-client { languages: [ 'typescript', 'javascript' ], runtime: 'NodeJS' }\n",
      },
    ]);
  });

  it('keeps its events, ends with 0 when asked to, and takes its home again', async () => {
    const stream = freshStream();
    const first = await start('--port', '0');
    await using(first.url, (client) => append(client, stream, [7]));
    expect(await stop(first.child)).toBe(0);

    const { url } = await start('--port', '0');
    expect(await using(url, (client) => contentsOf(client, stream))).toEqual([[0n, 7]]);
  });

  it('asks for the password in its file, over TLS', async () => {
    const certificate = selfSigned();
    const passwordFile = join(home, 'password');
    writeFileSync(passwordFile, 'a secret\n');
    try {
      const tls = ['--tls-cert', certificate.certFile, '--tls-key', certificate.keyFile];
      const { url } = await start('--port', '0', ...tls, '--username', 'ada', '--password-file', passwordFile);
      const as = (password: string): string =>
        `${url.replace('esdb://', `esdb://ada:${password}@`)}&tlsCAFile=${certificate.certFile}`;
      await using(as('a%20secret'), (client) => append(client, 'kept', [1]));
      await expect(using(as('wrong'), (client) => append(client, 'kept', [2]))).rejects.toMatchObject({
        type: 'access-denied',
      });
    } finally {
      certificate.remove();
    }
  });
});

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
  return child.exitCode;
}

async function using<Value>(url: string, work: (client: EventStoreDBClient) => Promise<Value>): Promise<Value> {
  const client = EventStoreDBClient.connectionString(url);
  try {
    return await work(client);
  } finally {
    await client.dispose();
  }
}

/** Runs code as a module that lies in the project, so that it finds what is installed there. */
async function runModule(code: string): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ['--input-type=module'], { cwd: ROOT, env: { PATH: process.env['PATH'] } });
  let said = '';
  child.stdout.on('data', (data: Buffer) => (said += data.toString()));
  child.stderr.on('data', (data: Buffer) => (said += data.toString()));
  child.stdin.end(code);
  await once(child, 'close');
  return { code: child.exitCode, said };
}
