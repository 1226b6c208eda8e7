import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInHarnesses, takesProvider } from '../../src/application/enrollment/harnesses.js';
import { HarnessFileUnreadable, makeHarnessRegistry } from '../../src/infrastructure/harness-file.js';

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-harness-'));
  file = join(folder, 'harnesses.json');
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = (value: unknown) => writeFileSync(file, JSON.stringify(value));
const names = async () => (await makeHarnessRegistry(builtInHarnesses, file).list()).map(({ name }) => name);

describe('the harness registry', () => {
  it('lists what is built in when no file is named', async () =>
    expect(await makeHarnessRegistry(builtInHarnesses, undefined).list()).toBe(builtInHarnesses));

  it('lists the harnesses of a file beside those that are built in', async () => {
    write([{ name: 'our-own', providers: ['anthropic'] }]);
    expect(await names()).toEqual([...builtInHarnesses.map(({ name }) => name), 'our-own']);
  });

  it('lets a file change what a built-in harness takes', async () => {
    write([{ name: 'codex', providers: 'any' }]);
    const codex = (await makeHarnessRegistry(builtInHarnesses, file).list()).filter(({ name }) => name === 'codex');
    expect(codex).toEqual([{ name: 'codex', description: '', providers: 'any' }]);
  });

  it('notices that the file was changed', async () => {
    write([]);
    const registry = makeHarnessRegistry(builtInHarnesses, file);
    const before = (await registry.list()).length;
    write([{ name: 'later', providers: 'any' }]);
    expect((await registry.list()).length).toBe(before + 1);
  });

  it.each<[string, string]>([
    ['is no JSON', '[{'],
    ['is no list', '{}'],
    ['names a harness twice', '[{"name":"a","providers":"any"},{"name":"a","providers":"any"}]'],
    ['has a malformed name', '[{"name":"Not A Name","providers":"any"}]'],
    ['has a harness that takes nothing', '[{"name":"a","providers":[]}]'],
    ['has an unknown field', '[{"name":"a","providers":"any","command":"sh"}]'],
  ])('lists nothing while the file %s', async (_, text) => {
    writeFileSync(file, text);
    await expect(names()).rejects.toThrow(HarnessFileUnreadable);
  });

  it('lists nothing while the file is missing', async () =>
    expect(makeHarnessRegistry(builtInHarnesses, join(folder, 'missing.json')).list()).rejects.toThrow(
      HarnessFileUnreadable,
    ));
});

describe('a harness', () => {
  it('takes the providers that it names, or all', () => {
    const named = { name: 'a', description: '', providers: ['anthropic'] };
    expect([takesProvider(named, 'anthropic'), takesProvider(named, 'openai')]).toEqual([true, false]);
    expect(takesProvider({ ...named, providers: 'any' }, 'openai')).toBe(true);
  });
});
