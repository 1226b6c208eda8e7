// How large files, functions and interfaces are, and how many files a request walks through.
import ts from 'typescript';
import { isApplication, isComposition } from './layout.mjs';
import { exists, isEmbedded, lineAt, linesOf, nodesOf, placeOf, shipped } from './sources.mjs';

const sources = shipped.filter((path) => path.startsWith('src/'));
const largestFirst = (left, right) => right.size - left.size;

export const filesBySize = (isMeant) =>
  sources
    .filter(isMeant)
    .map((path) => ({ place: path, size: linesOf(path) }))
    .sort(largestFirst);

export const applicationFiles = () => filesBySize(isApplication);
export const ownFiles = () => filesBySize((path) => !isEmbedded(path));

/** Functions, methods and the like with all their lines, those of functions inside them too. */
const functionsIn = (path) =>
  [...nodesOf(path)]
    .filter((node) => ts.isFunctionLike(node) && node.body)
    .map((node) => ({
      path,
      place: placeOf(path, node),
      size: lineAt(path, node.end) - lineAt(path, node.getStart()) + 1,
    }));

const functions = sources.flatMap(functionsIn).sort(largestFirst);
export const allFunctions = () => functions;
export const coreFunctions = () => functions.filter(({ path }) => isApplication(path) || isComposition(path));

export const looseFiles = () => sources.filter((path) => /^src\/application\/[^/]+$/.test(path));

const interfacesIn = (path) => [...nodesOf(path)].filter(ts.isInterfaceDeclaration);

const isMethod = (member) =>
  ts.isMethodSignature(member) || (ts.isPropertySignature(member) && member.type && ts.isFunctionTypeNode(member.type));

/** The interfaces that adapters implement, by their number of methods, inherited ones with them. */
export function portsByWidth() {
  const paths = sources.filter((path) => /^src\/application\/ports(\.ts$|\/)/.test(path));
  const declared = new Map(paths.flatMap((path) => interfacesIn(path).map((node) => [node.name.text, { path, node }])));
  const widthOf = ({ node }) => {
    const parents = (node.heritageClauses ?? []).flatMap((clause) => clause.types.map((type) => type.expression.text));
    const inherited = parents.map((name) => (declared.has(name) ? widthOf(declared.get(name)) : 0));
    return inherited.reduce((sum, width) => sum + width, node.members.filter(isMethod).length);
  };
  return [...declared]
    .map(([name, found]) => ({ place: `${placeOf(found.path, found.node)} ${name}`, size: widthOf(found) }))
    .sort(largestFirst);
}

/** The fields of an interface of the application, wherever it stands. */
export function fieldsOf(name) {
  const nodes = sources.filter(isApplication).flatMap(interfacesIn);
  return nodes.filter((node) => node.name.text === name).flatMap((node) => node.members.map((member) => member.name));
}

/**
 * What a reader has to open between an operation and the ports, `kernel/` aside. A stage lists every file that is it or
 * was it, so that the walk can be measured while files move.
 */
const walks = {
  append: [
    ['operations/scratchpad/append-entry'],
    ['pad-kinds', 'pad-entries', 'scratchpad/pad', 'scratchpad/entries/append'],
    ['entry-fields', 'scratchpad/entries/fields'],
    ['ledger/reconcile', 'scratchpad/consistency'],
    ['ledger/names', 'ledger/tell', 'scratchpad/ledger-events'],
    ['transact', 'gathered-appends', 'event-sourcing/fact-recorder'],
    ['codec', 'event-sourcing/codec'],
  ],
  enrollment: [
    ['operations/agent/enroll-agent'],
    ['enrollment/enroll'],
    ['enrollment/fence'],
    ['transact', 'event-sourcing/first-event'],
    ['transact', 'event-sourcing/append'],
    ['codec', 'event-sourcing/codec'],
  ],
};

/** The files of a walk with their lines; `lost` are stages without any file: then the list above is out of date. */
export function walkOf(name) {
  const stages = walks[name].map((stage) => stage.map((file) => `src/application/${file}.ts`));
  const files = [...new Set(stages.flat().filter(exists))];
  const lost = stages.filter((stage) => !stage.some(exists)).map((stage) => stage.join(' or '));
  return { files, lost, lines: files.reduce((sum, path) => sum + linesOf(path), 0) };
}
