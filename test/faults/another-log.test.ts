import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '../../src/application/ports/event-store.js';
import { startRole } from '../../src/composition/serve.js';
import { openEventStore } from '../../src/infrastructure/eventstore/event-store.js';
import { startEventStore } from '../../src/infrastructure/embedded/eventstore/server.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { freshDatabase, type FreshDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { configFor, startStack, type Member, type Stack } from '../support/stack.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

let stack: Stack;
let proxy: TcpProxy;
let otherDatabase: FreshDatabase;
let other: Awaited<ReturnType<typeof startEventStore>>;
let ada: Member;
let pads: readonly string[];
const folder = mkdtempSync(join(tmpdir(), 'palimpsest-log-'));

const rightPort = () => stack.eventstorePort;
const wrongPort = () => Number(/:(\d+)/.exec(other.url)?.[1]);
const adminKey = () => readFileSync(join(stack.home, 'admin.key'), 'utf8');

const readiness = async (url = stack.url) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, text: await response.text() };
};
const isReady = async () => (await readiness()).status === 200;

/** Every key of every pad, with what it holds. */
async function words(): Promise<readonly unknown[]> {
  const keys = (await stack.redis.keys('scratchpad:*')).sort();
  return Promise.all(keys.map(async (key) => [key, (await stack.redis.dumpBuffer(key)).toString('base64')]));
}

beforeAll(async () => {
  proxy = await startTcpProxy({ host: '127.0.0.1', port: 1 });
  stack = await startStack({
    eventstoreProxy: (port) => {
      proxy.leadTo(port);
      return proxy.port;
    },
  });
  otherDatabase = await freshDatabase();
  other = await startEventStore({ databaseUrl: otherDatabase.url });
  ada = await stack.user('Ada');
  pads = await Promise.all(
    Array.from({ length: 6 }, async (_, n) => {
      const { data: thread } = await ada.post('/v1/threads', {});
      const { data: pad } = await ada.post('/v1/scratchpads', { threadId: (thread as { id: string }).id });
      const { id } = pad as { id: string };
      await ada.post(`/v1/scratchpads/${id}/entries`, { content: `word ${n}` });
      return id;
    }),
  );
});

afterAll(async () => {
  await stack.stop();
  await other.stop();
  await otherDatabase.drop();
  await proxy.close();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(async () => {
  proxy.leadTo(rightPort());
  await eventually(isReady, Boolean);
});

describe('an empty event log in place of the right one', () => {
  it('makes a running server not ready within five seconds, which acknowledges nothing and is well again afterwards', async () => {
    const [before, key] = [await words(), adminKey()];
    proxy.leadTo(wrongPort());
    await eventually(readiness, ({ status, text }) => status === 503 && text.includes('palimpsest adopt-log'), 5_000);
    const answers = await Promise.all([
      ada.post('/v1/threads', {}),
      ada.post(`/v1/scratchpads/${pads[0] ?? ''}/entries`, { content: 'nobody may hear this is kept' }),
      ada.delete(`/v1/scratchpads/${pads[1] ?? ''}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    const worker = await stack.another('worker');
    await worker.stop();
    expect(await words()).toEqual(before);
    expect(adminKey()).toBe(key);

    proxy.leadTo(rightPort());
    await eventually(isReady, Boolean);
    for (const [n, id] of pads.entries()) {
      const { data } = await ada.get(`/v1/scratchpads/${id}/entries`);
      expect(data).toMatchObject([{ content: `word ${n}` }]);
    }
    const entry = await ada.post(`/v1/scratchpads/${pads[0] ?? ''}/entries`, { content: 'and on' });
    expect(entry.status).toBe(201);
  });

  it.each(['api', 'worker', 'projector'] as const)(
    'keeps a %s that starts from making or removing anything',
    async (role) => {
      const before = await words();
      proxy.leadTo(wrongPort());
      const home = join(folder, role);
      const running = await startRole(
        configFor(home, undefined),
        stack.backends,
        role,
        makeLogger({ level: 'silent' }),
      );
      try {
        if (role === 'api') {
          const { status, text } = await readiness(running.url);
          expect([status, text]).toEqual([503, expect.stringContaining('eventstore: EVENTSTORE_URL leads to')]);
        }
        expect(existsSync(home) ? readdirSync(home) : []).toEqual([]);
        expect(await words()).toEqual(before);
        expect(await stored()).toEqual([]);
      } finally {
        await running.stop();
      }
    },
  );
});

/** What the wrong log holds. */
async function stored(): Promise<readonly StoredEvent[]> {
  const log = openEventStore(other.url, makeLogger({ level: 'silent' }));
  try {
    return await log.readAll(undefined, 10);
  } finally {
    await log.close();
  }
}
