import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Embedded from '../../src/infrastructure/embedded/embedded.js';
import { isFast } from './fast-suites.cjs';

/** The part of jest's settings that is looked at here. */
interface JestSettings {
  readonly rootDir: string;
  readonly findRelatedTests: boolean;
  readonly testPathPatterns: { toExecutor(options: { rootDir: string }): { isMatch(path: string): boolean } };
}

/** What the whole run of tests uses, asked to the suites as TEST_DATABASE_URL, TEST_REDIS_URL and TEST_EVENTSTORE_URL. */
export interface Stack {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly eventstoreUrl: string;
  stop(): Promise<void>;
}

declare global {
  // Jest loads set-up and tear-down apart, in one process.
  var palimpsestTestStack: Stack | undefined;
}

const root = join(__dirname, '../..');

/** Brings up one stack for the run, unless only suites were chosen that need none. */
export default async function setUp(jest: JestSettings): Promise<void> {
  if (!needsBackends(jest)) return;
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const stack = await start(process.env['TEST_STACK'] ?? 'embedded');
  globalThis.palimpsestTestStack = stack;
  process.env['TEST_DATABASE_URL'] = stack.databaseUrl;
  process.env['TEST_REDIS_URL'] = stack.redisUrl;
  process.env['TEST_EVENTSTORE_URL'] = stack.eventstoreUrl;
}

function needsBackends({ testPathPatterns, findRelatedTests, rootDir }: JestSettings): boolean {
  if (findRelatedTests) return true;
  const chosen = testPathPatterns.toExecutor({ rootDir });
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(root, 'test', file))
    .some((file) => chosen.isMatch(file) && !isFast(file));
}

function start(kind: string): Promise<Stack> {
  if (kind === 'embedded') return startEmbeddedStack();
  if (kind === 'containers') return startContainers();
  if (kind === 'external') return Promise.resolve(externalStack());
  throw new Error(`TEST_STACK must be embedded, containers or external, not "${kind}".`);
}

/** In a home of its own that is thrown away, so that runs at the same time do not meet. */
async function startEmbeddedStack(): Promise<Stack> {
  const built = join(root, 'dist/src/infrastructure/embedded');
  // The compiled form, because it starts further processes from its own files.
  const { startEmbedded } = (await import(join(built, 'embedded.js'))) as typeof Embedded;
  const { databaseUrl, redisUrl, eventstoreUrl, stop } = await startEmbedded({
    home: mkdtempSync(join(tmpdir(), 'palimpsest-test-')),
    need: { postgres: true, redis: true, eventstore: true },
    log: (line) => console.error(line),
    throwAway: true,
  });
  if (databaseUrl === undefined || redisUrl === undefined || eventstoreUrl === undefined)
    throw new Error('A backend is missing.');
  return { databaseUrl, redisUrl, eventstoreUrl, stop };
}

function externalStack(): Stack {
  const given = (name: string): string => {
    const value = process.env[name];
    if (value === undefined || value === '') throw new Error(`TEST_STACK=external needs ${name}.`);
    return value;
  };
  return {
    databaseUrl: given('DATABASE_URL'),
    redisUrl: given('REDIS_URL'),
    eventstoreUrl: given('EVENTSTORE_URL'),
    stop: () => Promise.resolve(),
  };
}

/** The servers as their makers ship them. Without a container engine there is nothing to test, which is said, not failed. */
async function startContainers(): Promise<Stack> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  try {
    await getContainerRuntimeClient();
  } catch {
    console.error('Skipped: TEST_STACK=containers needs a container engine, and none was found.');
    process.exit(0);
  }
  const [postgres, redis, eventstore] = await Promise.all([
    new PostgreSqlContainer('postgres:18').start(),
    new GenericContainer('redis:7')
      .withExposedPorts(6379)
      .withCommand(['redis-server', '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''])
      .start(),
    new GenericContainer('eventstore/eventstore:24.10')
      .withExposedPorts(2113)
      .withEnvironment({ EVENTSTORE_INSECURE: 'true', EVENTSTORE_MEM_DB: 'true', EVENTSTORE_CLUSTER_SIZE: '1' })
      .withWaitStrategy(Wait.forHttp('/health/live', 2113).forStatusCode(204))
      .start(),
  ]);
  return {
    databaseUrl: postgres.getConnectionUri(),
    redisUrl: `redis://${redis.getHost()}:${redis.getMappedPort(6379)}/0`,
    eventstoreUrl: `esdb://${eventstore.getHost()}:${eventstore.getMappedPort(2113)}?tls=false`,
    async stop() {
      await Promise.all([postgres.stop(), redis.stop(), eventstore.stop()]);
    },
  };
}
