// Writes the SDK's declarations beside its code in dist/, for the programs and editors of its users. Their types are those of
// src/interfaces/sdk/api.ts, written out so that they need neither the server's sources nor its packages.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { apiText } from './sdk-api-text.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const sdk = join(root, 'src/interfaces/sdk');
const derived = join(sdk, 'api.ts');

/** Needs what `build.mjs` has built. Answers how many files it wrote below the folder. */
function writeTypes(folder) {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const program = ts.createProgram([join(sdk, 'index.ts')], {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    types: ['node'],
  });
  const written = new Set();
  const write = (source) => {
    if (written.has(source)) return;
    written.add(source);
    const text = source === derived ? derivedText(program) : declarationsOf(program, source);
    const target = join(folder, relative(root, source)).replace(/\.ts$/, '.d.ts');
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    for (const [, path] of text.matchAll(/from '(\.[^']*)\.js'/g)) write(join(dirname(source), `${path}.ts`));
  };
  write(join(sdk, 'index.ts'));
  return written.size;
}

function declarationsOf(program, source) {
  let text;
  const { diagnostics } = program.emit(
    program.getSourceFile(source),
    (_, emitted) => (text = emitted),
    undefined,
    true,
  );
  if (diagnostics.length > 0 || text === undefined) throw new Error(`${source} has no declarations.`);
  return text;
}

function derivedText(program) {
  const require = createRequire(import.meta.url);
  const { operations } = require('../dist/src/application/registry.js');
  const { codesOf } = require('../dist/src/application/operation/refusal-codes.js');
  const { placesOf } = require('../dist/src/interfaces/sdk/names.js');
  const checker = program.getTypeChecker();
  const file = checker.getSymbolAtLocation(program.getSourceFile(derived));
  const api = checker.getExportsOfModule(file).find(({ name }) => name === 'Api');
  return apiText(checker, checker.getDeclaredTypeOfSymbol(api), { operations, codesOf, placesOf });
}

console.log(`wrote the declarations of ${writeTypes(process.argv[2] ?? join(root, 'dist'))} files`);
