// Compiles src/ and projections/ to dist/ with swc, only what changed since the last build. Types are checked by `npm run types`.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const recipeFile = join(dist, '.recipe');
const sources = ['src', 'projections'];
/** Evaluated once, here: what is built is its value, so that whoever loads it loads nothing else. */
const folded = join(root, 'src/interfaces/sdk/table.ts');
const swcOptions = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  // An ES module imports what is built by its names (the SDK) only if they are told like this.
  module: { type: 'commonjs', exportInteropAnnotation: true },
  sourceMaps: true,
  swcrc: false,
};

/** Brings dist/ up to date and answers how many files that took. Safe to run many times at once. */
export const build = () => withLock('build', root, buildAlone);

async function buildAlone() {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/@swc/core/package.json'), 'utf8'));
  startOverIfRecipeChanged(JSON.stringify({ version, swcOptions }));
  const files = sources.flatMap((folder) => filesBelow(join(root, folder)));
  const wanted = new Set([recipeFile, ...files.map(target)]);
  for (const built of filesBelow(dist)) {
    if (!wanted.has(built.replace(/\.map$/, '').replace(/\.d\.ts$/, '.js'))) rmSync(built);
  }
  const stale = files.filter((file) => !isCurrent(file));
  if (stale.length === 0) return 0;
  const { transform } = await import('@swc/core');
  // Its value may change with any file. Not current until the end, whatever ends this build before.
  if (existsSync(target(folded))) utimesSync(target(folded), 0, 0);
  await Promise.all(stale.filter((file) => file !== folded).map((file) => compile(transform, file)));
  await fold(transform);
  return stale.length;
}

function startOverIfRecipeChanged(recipe) {
  if (existsSync(recipeFile) && readFileSync(recipeFile, 'utf8') === recipe) return;
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  writeFileSync(recipeFile, recipe);
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const target = (file) => join(dist, relative(root, file)).replace(/\.ts$/, '.js');

// A built file carries the time of the source it was made from, so any other time means another source.
function isCurrent(file) {
  const built = statSync(target(file), { throwIfNoEntry: false });
  return built !== undefined && Math.abs(built.mtimeMs - statSync(file).mtimeMs) < 1; // Setting a time rounds it.
}

async function compile(transform, file) {
  const built = target(file);
  const { mtime } = statSync(file);
  mkdirSync(dirname(built), { recursive: true });
  if (file.endsWith('.ts')) {
    const { code, map } = await transform(readFileSync(file, 'utf8'), { ...swcOptions, filename: file });
    writeFileSync(`${built}.map`, map);
    writeFileSync(`${built}.new`, `${code}\n//# sourceMappingURL=${basename(built)}.map\n`);
  } else {
    copyFileSync(file, `${built}.new`);
  }
  finish(built, mtime);
}

/** Runs the file among those that are built, in a process of its own, and writes down what it exports. */
async function fold(transform) {
  const built = target(folded);
  const { mtime } = statSync(folded);
  const { code } = await transform(readFileSync(folded, 'utf8'), {
    ...swcOptions,
    filename: folded,
    sourceMaps: false,
  });
  const script = `${code}\nprocess.stdout.write(JSON.stringify(exports));`;
  const json = execFileSync(process.execPath, ['-e', script], { cwd: dirname(built), encoding: 'utf8' });
  const values = Object.entries(JSON.parse(json));
  writeFileSync(
    `${built}.new`,
    values.map(([name, value]) => `exports.${name} = ${JSON.stringify(value)};\n`).join(''),
  );
  finish(built, mtime);
}

/** In one step: a server may start from dist/ at this moment. */
function finish(built, mtime) {
  utimesSync(`${built}.new`, mtime, mtime);
  renameSync(`${built}.new`, built);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(`compiled ${await build()} files`);
