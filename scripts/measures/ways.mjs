// By which way operations and others come to a scratchpad.
import ts from 'typescript';
import { imports } from './imports.mjs';
import { isComposition } from './layout.mjs';
import { nodesOf, placeOf, shipped } from './sources.mjs';

const nodesIn = (isMeant, ofKind) =>
  shipped.filter(isMeant).flatMap((path) => [...nodesOf(path)].filter(ofKind).map((node) => ({ path, node })));

/** The last part of `a.b.name` or `name`. */
const nameOf = (expression) =>
  ts.isPropertyAccessExpression(expression) ? expression.name.text : ts.isIdentifier(expression) ? expression.text : '';

const consistencyFile = /^src\/application\/.*\/(reconcile|consistency)\.ts$/;
const auditorFile = /\/auditor\.ts$/;

/** Calls that compare a ledger with its stream by hand. `consistency.run` is the way and not counted. */
export function consistencyCalls() {
  const calls = nodesIn((path) => !consistencyFile.test(path), ts.isCallExpression)
    .filter(({ node }) => ['isSound', 'reconcile'].includes(nameOf(node.expression)))
    .map(({ path, node }) => ({ path, place: placeOf(path, node) }));
  return {
    byHand: calls.filter(({ path }) => !auditorFile.test(path)),
    byAuditor: calls.filter(({ path }) => auditorFile.test(path)),
    files: new Set(calls.map(({ path }) => path)).size,
  };
}

const isOperation = (path) => path.startsWith('src/application/operations/');
const padKeys = ['scratchpadId', 'threadId', 'ownerId'];

/** `{ scratchpadId, ownerId }`, also with the thread's id, and nothing else: what names a pad beyond its owner. */
function isPadOfOwner(node) {
  if (!ts.isObjectLiteralExpression(node)) return false;
  const keys = node.properties.map((property) => property.name?.getText() ?? '...');
  return keys.includes('ownerId') && keys.includes('scratchpadId') && keys.every((key) => padKeys.includes(key));
}

const isOwnerId = (node) => /(^|\.)(ownerId|caller\.userId|tenant\.id)$/.test(node.getText());
const isPadId = (node) => nameOf(node) === 'scratchpadId';

/** Names that a file imports from the read models. Their finders take an owner, and row-level security guards them. */
const findersOf = (path) =>
  new Set(
    imports.filter(({ from, to }) => from === path && to.startsWith('projections/')).flatMap(({ names }) => names),
  );

function isCallForPadOfOwner(path, node) {
  if (!ts.isCallExpression(node) || findersOf(path).has(nameOf(node.expression))) return false;
  return node.arguments.some(isOwnerId) && node.arguments.some(isPadId);
}

/** Places where an operation writes an owner's id to reach a pad. */
export const ownerToPad = () =>
  nodesIn(isOperation, (node) => ts.isObjectLiteralExpression(node) || ts.isCallExpression(node))
    .filter(({ path, node }) => isPadOfOwner(node) || isCallForPadOfOwner(path, node))
    .map(({ path, node }) => ({ path, place: placeOf(path, node) }));

/** Files that name an operation: by its constant, or by its name as a text. Its story in `test/` comes on top. */
export function filesPerOperation() {
  const operations = nodesIn(isOperation, isOperationDeclaration).map(({ node }) => ({
    constant: node.name.text,
    name: nameProperty(node.initializer),
  }));
  const words = new Map(shipped.map((path) => [path, wordsOf(path)]));
  return operations.map(({ constant, name }) => ({
    name,
    files: shipped.filter((path) => words.get(path).has(constant) || words.get(path).has(`'${name}'`)),
  }));
}

const isOperationDeclaration = (node) =>
  ts.isVariableDeclaration(node) &&
  node.initializer !== undefined &&
  ts.isCallExpression(node.initializer) &&
  nameProperty(node.initializer) !== undefined &&
  /^operation$|Operation$/.test(nameOf(node.initializer.expression));

function nameProperty(call) {
  const [declaration] = call.arguments;
  if (!declaration || !ts.isObjectLiteralExpression(declaration)) return undefined;
  const property = declaration.properties.find(({ name }) => name?.getText() === 'name');
  return property && ts.isStringLiteral(property.initializer) ? property.initializer.text : undefined;
}

const wordsOf = (path) =>
  new Set(
    [...nodesOf(path)]
      .filter((node) => ts.isIdentifier(node) || ts.isStringLiteral(node))
      .map((node) => (ts.isIdentifier(node) ? node.text : `'${node.text}'`)),
  );

/**
 * How often a service is written down before it can be used: its token, what makes it, and, where the parameter types of
 * a maker are not inferred from the tokens, the type beside each need. The uses themselves are not counted.
 */
export function placesPerService() {
  const wiring = (path) => isComposition(path) || path === 'src/main.ts';
  const tokens = nodesIn(wiring, isToken).map(({ node }) => node.parent.name.getText());
  const calls = nodesIn(wiring, ts.isCallExpression).map(({ node }) => node);
  const bound = new Set(
    calls.filter((call) => nameOf(call.expression) === 'bind').map((call) => lastName(call.arguments[0])),
  );
  const annotated = new Set(calls.flatMap(annotatedNeeds));
  return tokens.map((name) => ({ name, places: 1 + Number(bound.has(name)) + Number(annotated.has(name)) }));
}

const isToken = (node) =>
  ts.isCallExpression(node) &&
  nameOf(node.expression) === 'token' &&
  (ts.isPropertyAssignment(node.parent) || ts.isVariableDeclaration(node.parent));

const lastName = (node) => (node ? nameOf(node) : '');

/** Of a call with a list of tokens and a maker: the tokens whose parameter says its type by hand. */
function annotatedNeeds(call) {
  const needs = call.arguments.find(ts.isArrayLiteralExpression);
  const maker = call.arguments.find((argument) => ts.isArrowFunction(argument) || ts.isFunctionExpression(argument));
  if (!needs || !maker) return [];
  return needs.elements.filter((_, index) => maker.parameters[index]?.type).map(nameOf);
}
