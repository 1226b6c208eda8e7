import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { Harness, HarnessRegistry } from '../application/ports/harnesses.js';
import { slug } from '../application/kernel/schemas.js';

const harnessFile = z.array(
  z.strictObject({
    name: slug(),
    description: z.string().max(500).default(''),
    providers: z.union([z.literal('any'), z.array(slug()).min(1).max(100)]),
  }),
);

/** The file of harnesses cannot be read, or is not a list of them. */
export class HarnessFileUnreadable extends Error {
  constructor(file: string, why: string) {
    super(`${file} ${why}.`);
  }
}

/**
 * Lists the built-in harnesses and those of a JSON file: `[{"name", "description"?, "providers": [...] | "any"}]`. A harness
 * that takes a built-in name replaces it. The file is read again when it changes, so that a harness can be added while the
 * server runs. Fails when: the file cannot be read → HarnessFileUnreadable; nothing is enrolled meanwhile.
 */
export function makeHarnessRegistry(builtIn: readonly Harness[], file: string | undefined): HarnessRegistry {
  let known: { readonly version: string; readonly harnesses: readonly Harness[] } | undefined;
  return {
    async list() {
      if (file === undefined) return builtIn;
      const version = await versionOf(file);
      if (known?.version !== version) known = { version, harnesses: merged(builtIn, await readHarnesses(file)) };
      return known.harnesses;
    },
  };
}

const merged = (builtIn: readonly Harness[], own: readonly Harness[]): readonly Harness[] => {
  const names = new Set(own.map(({ name }) => name));
  return [...builtIn.filter(({ name }) => !names.has(name)), ...own];
};

async function versionOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    throw new HarnessFileUnreadable(file, 'cannot be read');
  }
}

async function readHarnesses(file: string): Promise<readonly Harness[]> {
  let read: unknown;
  try {
    read = JSON.parse(await readFile(file, 'utf8'));
  } catch {
    throw new HarnessFileUnreadable(file, 'cannot be read as JSON');
  }
  const parsed = harnessFile.safeParse(read);
  if (!parsed.success) throw new HarnessFileUnreadable(file, 'is not a list of harnesses');
  const names = parsed.data.map(({ name }) => name);
  if (new Set(names).size !== names.length) throw new HarnessFileUnreadable(file, 'names a harness twice');
  return parsed.data;
}
