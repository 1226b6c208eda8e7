import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../support/cli.js';
import { startStack, type Member, type Stack } from '../support/stack.js';

let stack: Stack;
let ada: Member;
let bob: Member;
let folder: string;
beforeAll(async () => {
  stack = await startStack();
  [ada, bob] = [await stack.user('Ada'), await stack.user('Bob')];
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-import-'));
  writeFileSync(join(folder, 'bob.key'), `${bob.key}\n`);
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  for (const key of await stack.redis.keys('scratchpad:*:notebook')) await stack.redis.del(key);
});

const keyOf = (notebook: string) => `scratchpad:${notebook}:notebook`;
const write = (notebook: string, text: string) => stack.redis.set(keyOf(notebook), text);
const isThere = async (notebook: string) => (await stack.redis.exists(keyOf(notebook))) === 1;
const idIn = (data: unknown): string => (data as { id: string }).id; // everything that is made has an id
const newThread = async (owner: Member = ada) => idIn((await owner.post('/v1/threads', {})).data);

async function contentOf(threadId: string, owner: Member = ada): Promise<unknown> {
  const pad = await owner.get(`/v1/threads/${threadId}/scratchpad`);
  if (pad.status !== 200) return undefined;
  return ((await owner.get(`/v1/scratchpads/${idIn(pad.data)}/content`)).data as { content: string }).content;
}

/** Runs the command on a map, as Ada. */
async function run(map: readonly Readonly<Record<string, string>>[] | string, more: readonly string[] = []) {
  const file = join(folder, 'map');
  writeFileSync(file, typeof map === 'string' ? map : map.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { code, stdout, stderr } = await runCli(
    ['import', 'notebooks', '--redis', stack.backends.redisUrl, '--map', file, ...more],
    { env: { PALIMPSEST_URL: stack.url, PALIMPSEST_KEY: ada.key } },
  );
  return { code, stderr, counts: stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>) };
}

describe('palimpsest import notebooks', () => {
  it('brings a notebook into the scratchpad of a thread, and removes the old key', async () => {
    const threadId = await newThread();
    const text = 'Wale schlafen\naufrecht. \u{1F40B}\u2028 "quoted"';
    await write('old-1', text);
    const { code, counts, stderr } = await run([{ notebook: 'old-1', threadId }]);
    expect(code).toBe(0);
    expect(counts).toMatchObject({ mapped: 1, imported: 1, bytes: Buffer.byteLength(text), unmapped: 0 });
    expect(stderr).toContain('1/1 old-1');
    expect(await contentOf(threadId)).toBe(text);
    expect(await isThere('old-1')).toBe(false);
  });

  it('makes the thread where the map names none, once however often it runs', async () => {
    await write('old-2', 'text');
    const map = [{ notebook: 'old-2', title: 'Whales of old' }];
    await run(map);
    await write('old-2', 'text'); // as after a crash between the import and the removal
    expect((await run(map)).counts).toMatchObject({ imported: 1 });
    const threads = (await ada.get('/v1/threads?limit=100')).data as { id: string; title: string }[];
    const made = threads.filter(({ title }) => title === 'Whales of old');
    expect(made).toHaveLength(1);
    expect(await contentOf(made[0]?.id ?? '')).toBe('text');
    expect(await isThere('old-2')).toBe(false);
  });

  it('imports for several owners, each with their own key, from CSV', async () => {
    const [hers, his] = [await newThread(ada), await newThread(bob)];
    await write('old-a', 'of Ada');
    await write('old-b', 'of Bob');
    const map = `notebook,threadId,keyFile\r\nold-a,${hers},\r\n"old-b",${his},bob.key\r\n`;
    expect((await run(map)).counts).toMatchObject({ mapped: 2, imported: 2 });
    expect([await contentOf(hers, ada), await contentOf(his, bob)]).toEqual(['of Ada', 'of Bob']);
  });

  it('changes nothing in a dry run', async () => {
    const threadId = await newThread();
    await write('old-3', 'text');
    const { code, counts } = await run([{ notebook: 'old-3', threadId }, { notebook: 'old-4' }], ['--dry-run']);
    expect([code, counts]).toEqual([0, expect.objectContaining({ imported: 1, absent: 1, dryRun: true })]);
    expect(await contentOf(threadId)).toBeUndefined();
    expect(await isThere('old-3')).toBe(true);
  });

  it('never overwrites content that is there, and keeps the notebook', async () => {
    const threadId = await newThread();
    const pad = idIn((await ada.post('/v1/scratchpads', { threadId })).data);
    await ada.put(`/v1/scratchpads/${pad}/content`, { content: 'newer' });
    await write('old-5', 'older');
    const dry = await run([{ notebook: 'old-5', threadId }], ['--dry-run']);
    const { code, counts } = await run([{ notebook: 'old-5', threadId }]);
    expect([dry.counts['conflicts'], code, counts['conflicts']]).toEqual([1, 1, 1]);
    expect(await contentOf(threadId)).toBe('newer');
    expect(await isThere('old-5')).toBe(true);
  });

  it("cannot reach another tenant's thread", async () => {
    const threadId = await newThread(bob);
    await write('old-6', 'text');
    const { code, counts, stderr } = await run([{ notebook: 'old-6', threadId }]);
    expect([code, counts['failed']]).toEqual([1, 1]);
    expect(stderr).toContain('not_found');
    expect(await contentOf(threadId, bob)).toBeUndefined();
  });

  it('goes on past what cannot be imported, and tells what no line of the map names', async () => {
    const threadId = await newThread();
    await stack.redis.set(keyOf('old-7'), Buffer.from([0xff, 0xfe]));
    await write('old-8', 'nul \u0000');
    await write('old-9', 'fine');
    await write('old-10', 'forgotten');
    const other = await newThread();
    const map = [
      { notebook: 'old-7', threadId },
      { notebook: 'old-8', threadId },
      { notebook: 'old-9', threadId: other },
    ];
    const { code, counts, stderr } = await run(map);
    expect(code).toBe(1);
    expect(counts).toMatchObject({ imported: 1, failed: 2, unmapped: 1 });
    expect(stderr).toContain('old-10: not in the map');
    expect([await isThere('old-7'), await isThere('old-8'), await isThere('old-9')]).toEqual([true, true, false]);
  });

  it.each([
    ['a line that is not JSON', '{"notebook":"a"}\n{nonsense\n', 'Line 2'],
    ['an unknown field', '{"notebook":"a","owner":"user_1"}\n', 'Line 1'],
    ['a notebook twice', '{"notebook":"a"}\n{"notebook":"a"}\n', 'Line 2'],
    ['a CSV row with too many cells', 'notebook,title\na,b,c\n', 'Line 2'],
    ['a CSV row with a broken quote', 'notebook,title\na,"b\n', 'Line 2'],
    ['a column of no meaning', 'notebook,owner\na,user_1\n', 'Line 2'],
  ])('refuses a map with %s, before it does anything', async (_, map, where) => {
    await write('a', 'text');
    const { code, stderr } = await run(map);
    expect(code).toBe(2);
    expect(stderr).toContain(where);
    expect(await isThere('a')).toBe(true);
  });

  it('says in one line that a key, a file or a Redis is wrong', async () => {
    await write('old-11', 'text');
    const map = join(folder, 'one');
    writeFileSync(map, '{"notebook":"old-11"}\n');
    const redis = stack.backends.redisUrl;
    for (const args of [
      ['--redis', redis, '--map', join(folder, 'nothing')],
      ['--redis', 'http://x', '--map', map],
      ['--redis', redis, '--map', map, '--key', 'plm_wrong'],
      ['--redis', redis],
    ]) {
      const { code, stdout } = await runCli(['import', 'notebooks', ...args], { env: { PALIMPSEST_URL: stack.url } });
      expect([code, stdout]).toEqual([2, '']);
    }
    expect(await isThere('old-11')).toBe(true);
  });

  it('tells what it takes', async () => {
    const { code, stdout } = await runCli(['import', 'notebooks', '--help']);
    expect(code).toBe(0);
    for (const flag of ['--redis <url>', '--map <file>', '--dry-run']) expect(stdout).toContain(flag);
  });
});
