// The words of the code: names that only we would understand, and what is written in ways that the house left behind.
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { exists, filesOf, isEmbedded, nodesOf, placeOf, shipped, textOf } from './sources.mjs';

/** Each private word with the field's word for it. The glossary says what each means. */
export const privateWords = JSON.parse(readFileSync(new URL('../private-words.json', import.meta.url), 'utf8'));

const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_$.\-\s]+/g, ' ')
    .toLowerCase();

const isPrivate = new RegExp(` (?:${Object.keys(privateWords).join('|')})s? `);

/** Names that a file gives: not those of literal properties, which are data, nor those that are used. */
export function privateNames() {
  return shipped
    .filter((path) => !isEmbedded(path))
    .flatMap((path) =>
      [...nodesOf(path)]
        .map(declaredName)
        .filter((name) => name && isPrivate.test(` ${wordsOf(name.getText())} `))
        .map((name) => ({ path, place: `${placeOf(path, name)} ${name.getText()}` })),
    );
}

function declaredName(node) {
  if (ts.isImportSpecifier(node)) return node.propertyName ? node.name : undefined;
  if (ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node))
    return ts.isIdentifier(node.name) ? node.name : undefined;
  return declarations.has(node.kind) ? node.name : undefined;
}

const declarations = new Set([
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.FunctionExpression,
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
  ts.SyntaxKind.TypeParameter,
  ts.SyntaxKind.EnumDeclaration,
  ts.SyntaxKind.PropertySignature,
  ts.SyntaxKind.PropertyDeclaration,
  ts.SyntaxKind.MethodSignature,
  ts.SyntaxKind.MethodDeclaration,
  ts.SyntaxKind.GetAccessor,
  ts.SyntaxKind.SetAccessor,
  ts.SyntaxKind.NamespaceImport,
]);

/** Wherever the word stands that once named five things, inside other names and in prose too. */
export function bannedWord() {
  const paths = ['src', 'projections', 'test', 'docs'].flatMap(filesOf).concat(['README.md'].filter(exists));
  return paths.flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, index) => [...line.matchAll(/told/gi)].map(() => ({ path, place: `${path}:${index + 1}` }))),
  );
}

/** `...{ a, b }` and `...[a, b]`: what could have been written out. */
export function spreadLiterals() {
  const isSpread = (node) =>
    (ts.isSpreadAssignment(node) || ts.isSpreadElement(node)) && isLiteral(withoutBrackets(node.expression));
  return shipped.flatMap((path) =>
    [...nodesOf(path)].filter(isSpread).map((node) => ({ path, place: placeOf(path, node) })),
  );
}

const isLiteral = (node) => ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node);

const withoutBrackets = (node) =>
  ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)
    ? withoutBrackets(node.expression)
    : node;
