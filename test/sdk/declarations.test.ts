import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '../../src/application/registry.js';

const root = join(__dirname, '../..');
const run = (...args: readonly string[]) => execFileSync(process.execPath, args, { encoding: 'utf8' });

const compilesWithinMs = 180_000;

/** A program's folder that has the package installed: its declarations, and no sources and no packages. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-consumer-'));
  const installed = join(folder, 'node_modules/palimpsest');
  mkdirSync(installed, { recursive: true });
  copyFileSync(join(root, 'package.json'), join(installed, 'package.json'));
  run(join(root, 'scripts/sdk-types.mjs'), join(installed, 'dist'));
}, compilesWithinMs);
afterAll(() => rmSync(folder, { recursive: true }));

describe('the declarations that are shipped', () => {
  it(
    'are those of the registry: a program compiles against them as against the sources, with nothing else there',
    () => {
      copyFileSync(join(__dirname, 'consumer.ts'), join(folder, 'consumer.ts'));
      const compilerOptions = {
        strict: true,
        noEmit: true,
        module: 'node20',
        target: 'es2023',
        lib: ['es2023', 'dom'],
        types: [],
        exactOptionalPropertyTypes: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
      expect(compiled()).toBe('');
    },
    compilesWithinMs,
  );

  it('say of every operation what it is for', () => {
    const text = readFileSync(join(folder, 'node_modules/palimpsest/dist/src/interfaces/sdk/api.d.ts'), 'utf8');
    for (const { summary, http } of operations) {
      expect(text).toContain(summary);
      expect(text).toContain(`\`${http}\``);
    }
  });
});

/** What the compiler complains of. */
function compiled(): string {
  try {
    return run(join(root, 'node_modules/typescript/bin/tsc'), '-p', folder);
  } catch (fault) {
    return (fault as { readonly stdout: string }).stdout; // As a failed program throws.
  }
}
