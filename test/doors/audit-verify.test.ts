import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyExport, type Expectation } from '../../src/interfaces/cli/verify-export.js';
import { runCli } from '../support/cli.js';
import { startStack, type Stack } from '../support/stack.js';

interface Line {
  readonly id: string;
  readonly hash: string;
  readonly position: string;
  readonly ownerId: string;
  readonly [member: string]: unknown;
}

let stack: Stack;
let lines: readonly Line[];
let everyone: readonly Line[];
let folder: string;
beforeAll(async () => {
  stack = await startStack();
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-verify-'));
  const [ada, bob] = [await stack.user('Ada'), await stack.user('Bob')];
  for (const title of ['one', 'two', 'three', 'four']) {
    await ada.post('/v1/threads', { title, metadata: { weight: '1.0', word: 'é\u2028' } });
    await bob.post('/v1/threads', { title });
  }
  lines = linesOf((await ada.get('/v1/audit/export')).text);
  everyone = linesOf((await stack.admin.get('/v1/audit/export')).text);
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line); // As audit.export declares.

const verify = (events: readonly unknown[], expected: Expectation = {}) =>
  verifyExport(eachOf(events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)))), expected);

async function* eachOf(texts: readonly string[]): AsyncIterable<string> {
  for (const text of texts) yield await Promise.resolve(text);
}

const changed = (place: number, change: Readonly<Record<string, unknown>>) =>
  lines.map((line, index) => (index === place ? { ...line, ...change } : line));

describe('an exported audit trail', () => {
  it('fits, to its last event', async () => {
    const last = lines.at(-1);
    expect(await verify(lines)).toEqual({
      ok: true,
      broken: null,
      chains: [{ ownerId: last?.ownerId, events: lines.length, position: last?.position, hash: last?.hash }],
    });
  });

  it('fits for every tenant of an export of all', async () => {
    const { ok, chains } = await verify(everyone);
    expect(ok).toBe(true);
    expect(chains.length).toBeGreaterThanOrEqual(3);
    expect(chains.reduce((sum, { events }) => sum + events, 0)).toBe(everyone.length);
  });

  it.each([
    ['data', { data: { threadId: 'thread_x' } }, 'digest'],
    ['metadata', { metadata: {} }, 'digest'],
    ['type', { type: 'thread.deleted' }, 'hash'],
    ['stream', { stream: 'thread-x' }, 'hash'],
    ['revision', { revision: 7 }, 'hash'],
    ['id', { id: '00000000-0000-4000-8000-000000000000' }, 'hash'],
    ['actor', { actor: { type: 'user', id: 'user_x' } }, 'columns'],
    ['time', { at: '2020-01-01T00:00:00.000Z' }, 'columns'],
    ['correlation id', { correlationId: '00000000-0000-4000-8000-000000000000' }, 'columns'],
    ['position', { position: '0' }, 'order'],
  ])('shows where the %s of an event was changed', async (_, change, fault) => {
    const { ok, broken } = await verify(changed(3, change));
    expect(ok).toBe(false);
    expect(broken).toMatchObject({ fault, line: 4 });
  });

  it.each([
    ['first', 0, 1],
    ['third', 2, 3],
  ])('shows that the %s event was taken out', async (_, place, line) =>
    expect((await verify(lines.toSpliced(place, 1))).broken).toMatchObject({ fault: 'hash', line }),
  );

  it('shows that events changed places', async () => {
    const swapped = [...lines.slice(0, 2), lines[3], lines[2], ...lines.slice(4)];
    expect((await verify(swapped)).broken).toMatchObject({ fault: 'hash', line: 3, id: lines[3]?.id });
  });

  it('shows that the end is missing, given the hash of the end', async () => {
    const head = lines.at(-1)?.hash;
    expect((await verify(lines, { head })).ok).toBe(true);
    expect((await verify(lines.slice(0, -1), { head })).broken).toMatchObject({ fault: 'head' });
    expect((await verify([], { head })).broken).toMatchObject({ fault: 'head' });
  });

  it('shows that a line was cut off', async () => {
    const cut = JSON.stringify(lines[2]).slice(0, 90);
    expect((await verify([...lines.slice(0, 2), cut])).broken).toMatchObject({ fault: 'line', line: 3 });
  });

  it('that begins in the middle fits after the hash before it', async () => {
    expect((await verify(lines.slice(3), { after: lines[2]?.hash })).ok).toBe(true);
    expect((await verify(lines.slice(3))).broken).toMatchObject({ fault: 'hash', line: 1 });
  });
});

describe('palimpsest audit-verify', () => {
  const fileOf = (events: readonly unknown[]): string => {
    const file = join(folder, 'export.ndjson');
    writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    return file;
  };

  it('needs the file and nothing else', async () => {
    const { code, stdout } = await runCli(['audit-verify', fileOf(lines)]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${lines.length} events fit`);
  });

  it('names what does not fit, and exits with 1', async () => {
    const { code, stdout } = await runCli(['audit-verify', fileOf(changed(2, { data: {} }))]);
    expect(code).toBe(1);
    expect(stdout).toContain(`Line 3 (event ${lines[2]?.id ?? ''}) was changed`);
  });

  it('reads standard input, and prints JSON', async () => {
    const stdin = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const { code, stdout } = await runCli(['audit-verify', '-', '--json', '--head', lines.at(-1)?.hash ?? ''], {
      stdin,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  });

  it('says in one line that there is no such file', async () => {
    const { code, stderr } = await runCli(['audit-verify', join(folder, 'nothing')]);
    expect(code).toBe(2);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
