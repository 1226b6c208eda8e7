import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Role } from '../../src/composition/roles.js';
import type { Backends } from '../../src/composition/tokens.js';
import type { Config } from '../../src/infrastructure/config.js';
import { startEventStore } from '../../src/infrastructure/embedded/eventstore/server.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { makeKekRing } from '../../src/infrastructure/vault/kek-ring.js';
import { startRole } from '../../src/composition/serve.js';
import { freshDatabase } from './database.js';
import { restClient, type RestClient } from './rest-client.js';

/** A user of the stack, with a client that calls as them. */
export type Member = Awaited<ReturnType<Stack['user']>>;

/** The whole product on real backends of its own: a fresh database, an event store on it, a numbered Redis. */
export interface Stack {
  readonly url: string;
  readonly backends: Backends;
  readonly admin: RestClient;
  readonly redis: Redis;
  /** Where the event store itself serves, in front of which a proxy may stand. */
  readonly eventstorePort: number;
  /** The folder with the administrator's key. */
  readonly home: string;
  /** Another process's worth of the product on the same backends. */
  another(role?: Role): Promise<{ readonly url: string; stop(): Promise<void> }>;
  /** A client with this key. */
  client(key: string, url?: string): RestClient;
  /** A new user with their first key. */
  user(
    name: string,
  ): Promise<RestClient & { readonly userId: string; readonly workspaceId: string; readonly key: string }>;
  stop(): Promise<void>;
}

interface StackOptions {
  /** A Redis that the suite itself starts and stops. */
  readonly ownRedisUrl?: string;
  /** Where agents of provider `anthropic` find their model, and those of `openai`. */
  readonly modelUrl?: string;
  /** Answers the port of a proxy in front of the event store, given the event store's own. */
  readonly eventstoreProxy?: (port: number) => number;
}

export async function startStack({ ownRedisUrl, modelUrl, eventstoreProxy }: StackOptions = {}): Promise<Stack> {
  const database = await freshDatabase();
  const eventstore = await startEventStore({ databaseUrl: database.url });
  const eventstorePort = Number(/:(\d+)/.exec(eventstore.url)?.[1]);
  const redisUrl = ownRedisUrl ?? redisOfThisWorker();
  const redis = new Redis(redisUrl);
  redis.on('error', () => undefined); // It may be killed on purpose; whoever asks it something is reported.
  await redis.flushdb();
  const home = mkdtempSync(join(tmpdir(), 'palimpsest-journey-'));
  const backends = {
    databaseUrl: database.url,
    eventstoreUrl: eventstore.url.replace(
      `:${eventstorePort}`,
      `:${eventstoreProxy?.(eventstorePort) ?? eventstorePort}`,
    ),
    redisUrl,
    keks: makeKekRing({ number: 1, key: randomBytes(32) }),
  };
  const start = async (folder: string, role: Role = 'all') => {
    const running = await startRole(configFor(folder, modelUrl), backends, role, makeLogger({ level: 'silent' }));
    return { url: running.url ?? '', stop: () => running.stop() };
  };
  const main = await start(home);
  const client = (key: string, url = main.url) => restClient(url, key);
  const admin = client(readFileSync(join(home, 'admin.key'), 'utf8').trim());
  const others: { stop(): Promise<void> }[] = [];
  return {
    url: main.url,
    backends,
    admin,
    redis,
    eventstorePort,
    home,
    client,
    async another(role) {
      const other = await start(mkdtempSync(join(home, 'other-')), role);
      others.push(other);
      return other;
    },
    async user(name) {
      const { data } = await admin.post('/v1/users', { name });
      const made = data as { user: { id: string }; workspace: { id: string }; key: { key: string } }; // as user.create declares
      return { ...client(made.key.key), userId: made.user.id, workspaceId: made.workspace.id, key: made.key.key };
    },
    async stop() {
      for (const other of others) await other.stop();
      await main.stop();
      redis.disconnect();
      await eventstore.stop();
      await database.drop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export const configFor = (home: string, modelUrl: string | undefined): Config => ({
  host: '127.0.0.1',
  port: 0,
  probesPort: 0,
  home,
  eventstoreUrl: undefined,
  databaseUrl: undefined,
  redisUrl: undefined,
  keks: undefined,
  ...(modelUrl !== undefined && {
    modelEndpoints: {
      anthropic: { dialect: 'anthropic' as const, url: modelUrl },
      openai: { dialect: 'openai' as const, url: modelUrl },
    },
  }),
  logLevel: 'silent',
});

/** Suites that run at the same time do not see each other's keys. */
export function redisOfThisWorker(): string {
  const server = process.env['TEST_REDIS_URL'];
  if (server === undefined) throw new Error('TEST_REDIS_URL is not set: run the tests with jest.');
  const url = new URL(server);
  url.pathname = `/${Number(process.env['JEST_WORKER_ID'] ?? '1') + 1}`;
  return url.href;
}
