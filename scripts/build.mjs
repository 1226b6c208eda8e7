// Compiles src/ and projections/ to dist/ with swc, whole whenever a source has changed. Types are checked by `npm run types`.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const require = createRequire(import.meta.url);
const self = fileURLToPath(import.meta.url);
const root = join(dirname(self), '..');
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
/** What is built of it is its value, so that loading it loads nothing else. */
const folded = join(dist, 'src/interfaces/sdk/table.js');
const swcOptions = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  // An ES module imports what is built by its names (the SDK) only if they are told like this.
  module: { type: 'commonjs', exportInteropAnnotation: true },
  swcrc: false,
};

function build() {
  const sources = ['src', 'projections'].flatMap((folder) => filesBelow(join(root, folder)));
  const stamp = [self, require.resolve('@swc/core/package.json'), ...sources].map(stateOf).join('\n');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return 0;
  const outputs = new Map(sources.flatMap(compiled)); // nothing is written unless all of it compiles
  rmSync(stampFile, { force: true });
  for (const [file, content] of outputs) put(file, content);
  for (const file of filesBelow(dist)) if (!outputs.has(file.replace(/\.d\.ts$/, '.js'))) rmSync(file);
  const values = Object.entries(require(folded));
  put(folded, values.map(([name, value]) => `exports.${name} = ${JSON.stringify(value)};\n`).join(''));
  put(stampFile, stamp);
  return sources.length;
}

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? join(entry.parentPath, entry.name) : [],
  );

const stateOf = (file) => `${file} ${statSync(file).size} ${statSync(file).mtimeMs}`;

/** The files that are built from a source, with their contents: SQL and Lua as they are. */
function compiled(file) {
  const built = join(dist, relative(root, file)).replace(/\.ts$/, '.js');
  const text = readFileSync(file, 'utf8');
  if (!file.endsWith('.ts')) return [[built, text]];
  const { code, map } = require('@swc/core').transformSync(text, { ...swcOptions, filename: file, sourceMaps: true });
  return Object.entries({ [`${built}.map`]: map, [built]: `${code}\n//# sourceMappingURL=${basename(built)}.map\n` });
}

/** In one step: a server may start from dist/ at this moment. */
function put(file, content) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

// One build at a time: the others find its stamp and are done.
console.log(`compiled ${await withLock('build', root, build)} files`);
