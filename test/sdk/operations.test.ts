import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Operation } from '../../src/application/operation/operation.js';
import { operations } from '../../src/application/registry.js';
import { Palimpsest } from '../../src/interfaces/sdk/index.js';
import { placesOf } from '../../src/interfaces/sdk/names.js';
import { table } from '../../src/interfaces/sdk/table.js';
import { events, startScriptServer, success, text, type ScriptServer } from './script-server.js';

const answers = {
  command: success({ id: 'x' }),
  query: success({ id: 'x' }),
  list: success([{ id: 'x' }], { page: { nextCursor: null } }),
  stream: text(200, '{"id":"x"}\n'),
  events: events(['id: 7\nevent: reported\ndata: {}', 'event: done\ndata: {"reason":"deleted"}'], 'end'),
};

type Method = (...args: unknown[]) => PromiseLike<unknown> | AsyncIterable<unknown>;

const root = join(__dirname, '../..');
let server: ScriptServer;
afterEach(() => server.close());

async function clientOf(kind: Operation['kind']): Promise<Palimpsest> {
  server = await startScriptServer(answers[kind]);
  return new Palimpsest({ url: server.url, apiKey: 'plm_key' });
}

/** The member of the client at a path: types are another test's business. */
const memberAt = (client: Palimpsest, path: readonly string[]): unknown =>
  path.reduce<unknown>((family, name) => (family as Readonly<Record<string, unknown>>)[name], client);

async function settled(result: PromiseLike<unknown> | AsyncIterable<unknown>): Promise<void> {
  if (!(Symbol.asyncIterator in result)) await result;
  else for await (const item of result) expect(item).toBeDefined();
}

describe('every operation of the registry', () => {
  it.each(operations.map((operation) => [operation.name, operation] as const))(
    '%s is a method, which calls its path with its method',
    async (name, { recordedAs, http, kind }) => {
      const client = await clientOf(kind);
      const entry = table.find((candidate) => candidate.name === name);
      const ids = [...http.matchAll(/\{(\w+)\}/g)].map(([, id = '']) => id);
      const puts = http.startsWith('PUT ') && entry?.fields.length === 1;
      for (const path of placesOf(name, recordedAs)) {
        const method = memberAt(client, path) as Method;
        await settled(method(...ids, ...(puts ? ['text'] : [])));
        expect(server.came.at(-1)?.line).toBe(http.replaceAll(/[{}]/g, ''));
      }
    },
  );

  it('is found where people look for it', async () => {
    const client = await clientOf('query');
    expect(client.scratchpads.createScratchpad).toBe(client.scratchpads.create);
    expect(client.threads.createThread).toBe(client.threads.create);
    expect(client.scratchpads.update).toBe(client.scratchpads.metadata.set);
    expect(placesOf('scratchpad.entry.append')).toEqual([['scratchpads', 'entries', 'append']]);
    expect(placesOf('agent.enrollment.get')).toEqual([['agents', 'enrollment', 'get']]);
    expect(placesOf('key.create')).toEqual([
      ['keys', 'create'],
      ['keys', 'createKey'],
    ]);
    expect(placesOf('harness.list')).toEqual([['harnesses', 'list']]);
    expect(placesOf('read_scratchpad')).toEqual([['tools', 'readScratchpad']]);
  });
});

describe('the client as it is built', () => {
  const run = (...args: readonly string[]) =>
    JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })) as unknown;

  beforeEach(async () => {
    server = await startScriptServer(answers.query);
  });

  it('knows the operations of the registry', () => {
    expect(run('-p', `JSON.stringify(require('./dist/src/interfaces/sdk/table.js').table)`)).toEqual(table);
  });

  it('loads nothing of the server, and no package', () => {
    const loaded = run('-e', `require('palimpsest/sdk'); console.log(JSON.stringify(Object.keys(require.cache)))`);
    const folder = join(root, 'dist/src/interfaces/sdk/');
    expect((loaded as string[]).filter((file) => !file.startsWith(folder))).toEqual([]);
  });

  it('is imported by its name', () => {
    const script = `import { Palimpsest, PalimpsestError } from 'palimpsest/sdk';
      console.log(JSON.stringify([typeof Palimpsest, new PalimpsestError('', { code: 'conflict' }).code]));`;
    expect(run('--input-type=module', '-e', script)).toEqual(['function', 'conflict']);
  });
});
