import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../support/cli.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';

type Env = Readonly<Record<string, string>>;

let database: FreshDatabase;
let folder: string;
const kek = randomBytes(32).toString('base64');
/** A server that takes a port and is none of our backends. */
const other = createServer();
beforeAll(async () => {
  database = await freshDatabase();
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-start-'));
  writeFileSync(join(folder, 'not-json'), 'harnesses');
  writeFileSync(join(folder, 'empty'), '');
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  other.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const given = (name: string): string => process.env[name] ?? '';
const otherPort = () => String((other.address() as AddressInfo).port); // it listens on TCP

/** The same URL, with another part. */
function urlWith(url: string, parts: Parts): string {
  return Object.assign(new URL(url), parts).href;
}

const start = (env: Env, role: string) =>
  runCli(['serve', '--role', role], {
    env: {
      PORT: '0',
      PALIMPSEST_HOME: folder,
      PALIMPSEST_KEK: kek,
      LOG_LEVEL: 'error',
      DATABASE_URL: database.url,
      REDIS_URL: given('TEST_REDIS_URL'),
      EVENTSTORE_URL: given('TEST_EVENTSTORE_URL'),
      ...env,
    },
  });

type Parts = Partial<Pick<URL, 'port' | 'pathname' | 'password' | 'username'>>;
const postgres = (parts: Parts): Env => ({ DATABASE_URL: urlWith(database.url, parts) });
const redis = (parts: Parts): Env => ({ REDIS_URL: urlWith(given('TEST_REDIS_URL'), parts) });
const eventstore = (url: string): Env => ({ EVENTSTORE_URL: url });
const kms = (tokenFile: string): Env => ({
  PALIMPSEST_KMS_URL: 'http://localhost:1',
  PALIMPSEST_KMS_TOKEN_FILE: tokenFile && join(folder, tokenFile),
});

/** The variable that is wrong, how, and which role meets it; `all` where its background thread is the first to. */
const bad: readonly (readonly [variable: string, title: string, env: () => Env, role?: 'all'])[] = [
  ['PORT', 'that is none', () => ({ PORT: '65536' })],
  ['PORT', 'that is taken', () => ({ PORT: otherPort() })],
  ['HOST', 'of another machine', () => ({ HOST: '203.0.113.1' })],
  ['HOST', 'that nobody knows', () => ({ HOST: 'no.such.host' })],
  ['LOG_LEVEL', 'that is none', () => ({ LOG_LEVEL: 'loud' })],
  ['PALIMPSEST_KEK', 'that is too short', () => ({ PALIMPSEST_KEK: 'c2hvcnQ=' })],
  ['PALIMPSEST_KEK', 'that is missing', () => ({ PALIMPSEST_KEK: '' })],
  ['PALIMPSEST_CRASH_AT', 'outside of tests', () => ({ PALIMPSEST_CRASH_AT: 'trace' })],
  ['MCP_HOSTS', 'with ports', () => ({ MCP_HOSTS: 'agents.example:443' })],
  ['PALIMPSEST_MODEL_URLS', 'without encryption', () => ({ PALIMPSEST_MODEL_URLS: 'acme=http://models.example' })],
  ['PALIMPSEST_HARNESSES', 'that are missing', () => ({ PALIMPSEST_HARNESSES: join(folder, 'missing') })],
  ['PALIMPSEST_HARNESSES', 'that are no JSON', () => ({ PALIMPSEST_HARNESSES: join(folder, 'not-json') })],
  ['PALIMPSEST_KMS_TOKEN_FILE', 'that is not reported', () => kms('')],
  ['PALIMPSEST_KMS_TOKEN_FILE', 'that is missing', () => kms('missing')],
  ['PALIMPSEST_KMS_TOKEN_FILE', 'that is empty', () => kms('empty')],
  ['DATABASE_URL', 'of something else', () => ({ DATABASE_URL: 'mysql://127.0.0.1/x' })],
  ['DATABASE_URL', 'of no server', () => postgres({ port: '1' })],
  ['DATABASE_URL', 'with a wrong password', () => postgres({ password: 'canary' })],
  ['DATABASE_URL', 'of a database that is missing', () => postgres({ pathname: '/canary' })],
  ['DATABASE_URL', 'of a database that is missing', () => postgres({ pathname: '/canary' }), 'all'],
  ['REDIS_URL', 'of no server', () => redis({ port: '1' })],
  ['REDIS_URL', 'with a wrong password', () => redis({ username: 'default', password: 'canary' })],
  ['REDIS_URL', 'with a wrong password', () => redis({ username: 'default', password: 'canary' }), 'all'],
  ['REDIS_URL', 'of a database that is missing', () => redis({ pathname: '/99999' })],
  ['REDIS_URL', 'of a database that is no number', () => redis({ pathname: '/canary' })],
  ['EVENTSTORE_URL', 'of no server', () => eventstore('esdb://127.0.0.1:1?tls=false')],
  ['EVENTSTORE_URL', 'of nothing', () => eventstore('esdb://')],
  ['EVENTSTORE_URL', 'with an option that it does not have', () => eventstore('esdb://localhost:1?tls=canary')],
  ['EVENTSTORE_URL', 'with an option that it does not have', () => eventstore('esdb://localhost?tls=canary'), 'all'],
  ['EVENTSTORE_URL', 'with a file that is missing', () => eventstore('esdb://localhost?tlsCaFile=/no/canary')],
];

const starts = bad.map(([variable, title, env, role = 'api']) => ({ variable, title, env, role }));

describe('a start', () => {
  it.each(starts)(
    'of $role with $variable $title ends with one line that names it',
    async ({ variable, env, role }) => {
      const { code, stdout, stderr } = await start(env(), role);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^palimpsest: [^\\n]*\\b${variable}\\b[^\\n]*\\n$`));
      expect(stderr).not.toContain('canary');
    },
  );
});
