// Compiles src/ and projections/ to dist/ with swc, only what changed since the last build. Types are checked by `npm run types`.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, copyFileSync, existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const sources = ['src', 'projections'];
const swcOptions = {
  jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  module: { type: 'commonjs' },
  sourceMaps: true,
  swcrc: false,
};

export async function build() {
  const files = sources.flatMap((folder) => filesBelow(join(root, folder)));
  const wanted = new Set(files.map(target));
  for (const built of existsSync(join(root, 'dist')) ? filesBelow(join(root, 'dist')) : []) {
    if (!wanted.has(built.replace(/\.map$/, ''))) rmSync(built);
  }
  const stale = files.filter((file) => !isCurrent(file));
  if (stale.length === 0) return 0;
  const { transform } = await import('@swc/core');
  await Promise.all(stale.map((file) => compile(transform, file)));
  return stale.length;
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const target = (file) => join(root, 'dist', relative(root, file)).replace(/\.ts$/, '.js');

function isCurrent(file) {
  const built = target(file);
  return existsSync(built) && statSync(built).mtimeMs >= statSync(file).mtimeMs;
}

async function compile(transform, file) {
  const built = target(file);
  mkdirSync(dirname(built), { recursive: true });
  if (!file.endsWith('.ts')) return copyFileSync(file, built);
  const { code, map } = await transform(readFileSync(file, 'utf8'), { ...swcOptions, filename: file });
  writeFileSync(`${built}.map`, map);
  writeFileSync(built, `${code}\n//# sourceMappingURL=${built.split('/').pop()}.map\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.error(`compiled ${await build()} files`);
