// Who imports whom, types included: the graph of `src` and `projections`.
import { posix } from 'node:path';
import ts from 'typescript';
import { exists, lineOf, nodesOf, shipped } from './sources.mjs';

/** One edge for each file that a file imports: what it names there, whether as types alone, and where. */
function edgesFrom(path) {
  const edges = new Map();
  for (const node of nodesOf(path)) {
    const target = targetOf(path, node);
    if (target === undefined) continue;
    const before = edges.get(target);
    const names = namesOf(node);
    edges.set(target, {
      from: path,
      to: target,
      line: before?.line ?? lineOf(path, node),
      names: before ? before.names.concat(names) : names,
      isTypeOnly: (before?.isTypeOnly ?? true) && isTypeOnly(node),
    });
  }
  return [...edges.values()];
}

/** The file that an import, a re-export, `import()` or `import type` names; none for a package. */
function targetOf(path, node) {
  const specifier = specifierOf(node);
  if (!specifier || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.')) return undefined;
  const target = posix.join(posix.dirname(path), specifier.text).replace(/\.js$/, '.ts');
  return exists(target) ? target : undefined;
}

function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  return undefined;
}

function namesOf(node) {
  if (ts.isImportTypeNode(node)) return node.qualifier ? [node.qualifier.getText()] : ['*'];
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  if (!bindings || !bindings.elements) return ['*'];
  return bindings.elements.map((element) => (element.propertyName ?? element.name).text);
}

function isTypeOnly(node) {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ts.isImportDeclaration(node) || !node.importClause) return false;
  if (node.importClause.isTypeOnly) return true;
  const bindings = node.importClause.namedBindings;
  if (node.importClause.name || !bindings || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.every((element) => element.isTypeOnly);
}

export const imports = shipped.flatMap(edgesFrom);

/** Groups of files that reach each other (strongly connected, Tarjan 1972), of two files or more. */
export function circles() {
  const successors = new Map(shipped.map((path) => [path, []]));
  for (const edge of imports) successors.get(edge.from)?.push(edge.to);
  const state = { successors, order: new Map(), low: new Map(), open: [], found: [] };
  for (const path of shipped) if (!state.order.has(path)) connect(path, state);
  return state.found;
}

function connect(path, state) {
  const { successors, order, low, open, found } = state;
  order.set(path, order.size);
  low.set(path, order.get(path));
  open.push(path);
  for (const to of successors.get(path) ?? []) {
    if (!order.has(to)) connect(to, state);
    if (open.includes(to)) low.set(path, Math.min(low.get(path), low.get(to)));
  }
  if (low.get(path) !== order.get(path)) return;
  const group = open.splice(open.indexOf(path));
  if (group.length > 1) found.push(group.sort());
}
