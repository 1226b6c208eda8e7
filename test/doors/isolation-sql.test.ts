import { randomUUID } from 'node:crypto';
import type { Sql } from '../../projections/kit/sql.js';
import { newId } from '../../src/application/kernel/ids.js';
import type { Operation } from '../../src/application/operation/operation.js';
import type { ReadDb, ReadDbs } from '../../src/application/ports/read-models.js';
import { operations } from '../../src/application/registry.js';
import { isIdSchema } from '../../src/application/kernel/schemas.js';
import type { Module } from '../../src/composition/bind.js';
import { makeContainer } from '../../src/composition/container.js';
import { makeLogger } from '../../src/infrastructure/logger.js';
import { makeMetrics } from '../../src/infrastructure/metrics.js';
import type { Database } from '../../src/infrastructure/postgres/database.js';
import { makeReadDbs } from '../../src/infrastructure/postgres/read-dbs.js';
import { startHttpServer } from '../../src/interfaces/http/server.js';
import { restDoor } from '../../src/interfaces/rest/door.js';
import { startStack, type Stack } from '../support/stack.js';
import { T } from '../../src/composition/tokens.js';

/**
 * Another server on the same backends, whose SQL has lost the condition on the owner, as if its authors had forgotten it
 * everywhere. What an operation decides by streams and working state is as ever: these are bound to the caller.
 */
async function startForgetful({ backends }: Stack, dbsOf: (database: Database) => ReadDbs) {
  const log = makeLogger({ level: 'silent' });
  const metrics = makeMetrics();
  const config = {
    host: '127.0.0.1',
    port: 0,
    probesPort: 0,
    home: '',
    logLevel: 'silent' as const,
    keks: undefined,
    eventstoreUrl: undefined,
    databaseUrl: undefined,
    redisUrl: undefined,
  };
  const forgetful = (database: Database): ReadDbs => {
    const dbs = dbsOf(database);
    return { for: (ownerId) => withoutOwner(dbs.for(ownerId)), system: withoutOwner(dbs.system) };
  };
  const forgetfulDbs: Module = (bind) => bind(T.dbs, [T.database], forgetful);
  const { get, close } = makeContainer(config, backends, log, metrics, [forgetfulDbs]);
  const [gateway, checks] = await Promise.all([get(T.gateway), get(T.checks)]);
  const doors = [restDoor({ operations, gateway, version: '' })];
  const server = await startHttpServer({ doors, log, checks, exposition: metrics }, config);
  return {
    url: server.url,
    async stop() {
      await server.close(0);
      await close();
    },
  };
}

const withoutOwner = (db: ReadDb): ReadDb => ({ rows: (query) => db.rows(unfiltered(query)) });

const unfiltered = ({ text, values }: Sql): Sql => ({
  text: text.replace(/\b(?:\w+\.)?owner_id = (\$\d+)/g, '$1::text is not null'),
  values,
});

/** Every operation that reads threads, messages or scratchpads. */
const reads = operations
  .filter(({ scope }) => ['threads:read', 'messages:read', 'scratchpads:read'].includes(scope))
  .map((operation) => [operation.name, operation] as const);
const isNaming = ({ input, tool }: Operation) => tool !== undefined || Object.values(input.shape).some(isIdSchema);
const naming = reads.filter(([, operation]) => isNaming(operation));
const listing = reads.filter(([, operation]) => !isNaming(operation));

type Ids = Readonly<Record<'threadId' | 'scratchpadId', string>>;
const absent: Ids = { threadId: newId('thread', new Date()), scratchpadId: newId('scratchpad', new Date()) };
const correlationId = randomUUID();

let stack: Stack;
let forgetful: Awaited<ReturnType<typeof startForgetful>>;
let ada: Awaited<ReturnType<Stack['user']>>;
let bob: Awaited<ReturnType<Stack['user']>>;
let hers: Ids;
beforeAll(async () => {
  stack = await startStack();
  [ada, bob] = [await stack.user('Ada'), await stack.user('Bob')];
  const { id: threadId } = (await ada.post('/v1/threads', { title: 'Plan' })).data as { id: string };
  await ada.post(`/v1/threads/${threadId}/messages`, { role: 'user', content: 'hi' });
  const { id: scratchpadId } = (await ada.post('/v1/scratchpads', { threadId })).data as { id: string };
  await ada.post(`/v1/scratchpads/${scratchpadId}/entries`, { content: 'found' });
  hers = { threadId, scratchpadId };
  forgetful = await startForgetful(stack, makeReadDbs);
});
afterAll(async () => {
  await forgetful.stop();
  await stack.stop();
});

const read = ({ http, tool }: Operation, { key }: { readonly key: string }, ids: Ids, url = forgetful.url) =>
  stack
    .client(key, url)
    .get(http.replace('GET ', '').replace('{threadId}', ids.threadId).replace('{scratchpadId}', ids.scratchpadId), {
      'x-correlation-id': correlationId,
      ...(tool && { 'palimpsest-scratchpad': ids.scratchpadId }),
    });

describe('with the owner left out of all SQL, so that row-level security stands alone', () => {
  it.each(naming)("%s answers another tenant's id and a missing one with the same bytes", async (_, operation) => {
    const [foreign, missing] = [await read(operation, bob, hers), await read(operation, bob, absent)];
    expect([foreign.status, foreign.code]).toEqual([404, 'not_found']);
    expect(foreign.text).toBe(missing.text);
  });

  it.each(listing)("%s shows nothing of another tenant's", async (_, operation) =>
    expect(await read(operation, bob, hers)).toMatchObject({ status: 200, data: [] }),
  );

  it.each(reads)('%s answers its owner', async (_, operation) =>
    expect((await read(operation, ada, hers)).status).toBe(200),
  );
});

describe('with row-level security taken away as well', () => {
  it('what is decided by rows alone is shown to anybody: nothing else had stood in the way', async () => {
    const open = await startForgetful(stack, (database) => {
      const { system } = makeReadDbs(database);
      return { for: () => system, system };
    });
    const shown = [];
    for (const [name, operation] of reads) {
      const { status, text } = await read(operation, bob, hers, open.url);
      if (status === 200 && text.includes(hers.threadId)) shown.push(name);
    }
    await open.stop();
    expect(shown.sort()).toEqual([
      'message.list',
      'scratchpad.get',
      'scratchpad.list',
      'scratchpad.resolve',
      'thread.get',
      'thread.list',
    ]);
  });
});
