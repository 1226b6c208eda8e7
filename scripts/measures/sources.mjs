// The files of the repository, read once; source files also as syntax trees.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Below a folder or the file itself, as paths from the root; none where there is no such folder. */
export function filesOf(path) {
  const whole = join(root, path);
  if (!existsSync(whole)) return [];
  const entries = readdirSync(whole, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const inner = posix.join(path, entry.name);
    return entry.isDirectory() ? filesOf(inner) : [inner];
  });
}

export const exists = (path) => existsSync(join(root, path));

const texts = new Map();
export function textOf(path) {
  if (!texts.has(path)) texts.set(path, readFileSync(join(root, path), 'utf8'));
  return texts.get(path);
}

export function linesOf(path) {
  const lines = textOf(path).split('\n');
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}

export const isScript = (path) => /\.[cm]?[jt]s$/.test(path);
export const isEmbedded = (path) => path.startsWith('src/infrastructure/embedded/');

/** What ships: sources and projections. */
export const shipped = [...filesOf('src'), ...filesOf('projections')].filter((path) => path.endsWith('.ts'));

const trees = new Map();
export function treeOf(path) {
  if (!trees.has(path)) trees.set(path, ts.createSourceFile(path, textOf(path), ts.ScriptTarget.Latest, true));
  return trees.get(path);
}

/** Every node of a file's tree, in the order of the text. */
export function* nodesOf(path) {
  const stack = [treeOf(path)];
  for (let node = stack.pop(); node; node = stack.pop()) {
    yield node;
    const children = [];
    ts.forEachChild(node, (child) => void children.push(child));
    for (const child of children.reverse()) stack.push(child);
  }
}

export const lineAt = (path, offset) => treeOf(path).getLineAndCharacterOfPosition(offset).line + 1;
export const lineOf = (path, node) => lineAt(path, node.getStart());
export const placeOf = (path, node) => `${path}:${lineOf(path, node)}`;

/** The comments of a script, each with the line that it begins in. */
export function commentsOf(path) {
  const text = textOf(path);
  const tree = treeOf(path);
  const found = new Map();
  const note = (ranges) => {
    for (const { pos, end } of ranges ?? []) found.set(pos, text.slice(pos, end));
  };
  for (const token of tokensOf(tree, tree)) {
    note(ts.getLeadingCommentRanges(text, token.pos));
    note(ts.getTrailingCommentRanges(text, token.end));
  }
  return [...found].map(([pos, comment]) => ({ line: lineAt(path, pos), text: comment }));
}

/** Brackets and words as they stand in the text: the comments before and behind them are all that there are. */
function* tokensOf(node, tree) {
  const children = node.getChildren(tree).filter((child) => !ts.isJSDoc(child));
  if (children.length === 0) yield node;
  for (const child of children) yield* tokensOf(child, tree);
}
