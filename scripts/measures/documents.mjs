// What comments and documents refer to, and what the README shows.
import { posix } from 'node:path';
import { commentsOf, exists, filesOf, isScript, linesOf, textOf } from './sources.mjs';

/** Marks of documents that are not in the repository: a letter and a number (V8 is an engine), or a numbered title. */
const codes = /\b(?!V8\b)[A-Z]\d{1,2}\b/g;
const titles = /(?<![\w/-])0\d-[a-z]+/g;
const paths = /\bdocs\/[\w/.-]+\.md(?:#[\w-]+)?/g;
const decisions = /\bdecisions? (\d{4})\b/g;
const links = /\]\((?!https?:|mailto:)([^)\s]+)\)/g;

/** Lines that refer to something no reader can look up. */
export function deadCitations() {
  const inComments = ['src', 'projections', 'test', 'bench', 'scripts'].flatMap(filesOf).flatMap(commentLines);
  const documents = filesOf('docs').concat('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md').filter(isDocument);
  const inDocuments = documents.flatMap((path) => proseLines(path).map((line) => noteLinks(path, line)));
  return inComments
    .map((line) => note(line, deadIn(line.text)))
    .concat(inDocuments)
    .filter(({ dead }) => dead.length > 0)
    .map(({ path, number, dead }) => ({ path, place: `${path}:${number} ${dead.join(', ')}` }));
}

const isDocument = (path) => path.endsWith('.md') && exists(path);
const note = ({ path, number }, dead) => ({ path, number, dead });

function commentLines(path) {
  const numbered = (line, text) => text.split('\n').map((part, index) => ({ path, number: line + index, text: part }));
  if (isScript(path)) return commentsOf(path).flatMap(({ line, text }) => numbered(line, text));
  if (!/\.(sql|lua)$/.test(path)) return [];
  return numbered(1, textOf(path)).map((line) => ({ path, number: line.number, text: line.text.split('--')[1] ?? '' }));
}

/** Without what stands in fences. */
function proseLines(path) {
  let isFenced = false;
  return textOf(path)
    .split('\n')
    .map((text, index) => ({ path, number: index + 1, text }))
    .filter(({ text }) => {
      const isFence = text.trimStart().startsWith('```');
      if (isFence) isFenced = !isFenced;
      return !isFence && !isFenced;
    });
}

function deadIn(text) {
  const prose = text.replace(/`[^`]*`/g, '');
  return [
    matchesOf(prose, codes),
    matchesOf(prose, titles),
    matchesOf(text, paths).filter((target) => !resolves(target)),
    matchesOf(prose, decisions).filter((cited) => !hasDecision(cited.slice(-4))),
  ].flat();
}

function noteLinks(path, line) {
  const prose = line.text.replace(/`[^`]*`/g, '');
  const targets = [...prose.matchAll(links)].map(([, target]) => target);
  const dead = targets.filter((target) => !resolves(targetFrom(path, target)));
  return note(line, dead.concat(matchesOf(prose.replace(links, ''), titles)));
}

const matchesOf = (text, pattern) => [...text.matchAll(pattern)].map(([match]) => match);

const targetFrom = (path, target) => (target.startsWith('#') ? path + target : posix.join(posix.dirname(path), target));

function resolves(target) {
  const [path, anchor] = target.split('#');
  if (!exists(path)) return false;
  return anchor === undefined || !path.endsWith('.md') || anchorsOf(path).includes(anchor);
}

const hasDecision = (number) => filesOf('docs/decisions').some((path) => posix.basename(path).startsWith(`${number}-`));

/** Headings as GitHub makes them addressable; the second of one name gets a number. */
function anchorsOf(path) {
  const headings = proseLines(path).flatMap(({ text }) => /^#{1,6} +(.*?)[ #]*$/.exec(text)?.[1] ?? []);
  const slugs = headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/\]\([^)]*\)/g, '')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
  return slugs.map((slug, index) => {
    const before = slugs.slice(0, index).filter((earlier) => earlier === slug).length;
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

/** The README's length, and whether it shows a picture, a walk and the way to the glossary. */
export function readme() {
  const text = textOf('README.md');
  const fences = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)];
  const isPicture = ([, language, body]) => language === 'mermaid' || (language === '' && /[─│┌└▼►◄]|-->/.test(body));
  return {
    lines: linesOf('README.md'),
    picture: fences.some(isPicture) || /!\[[^\]]*\]\([^)]+\)/.test(text),
    walk: /\bwalk/i.test(text),
    glossary: text.includes('](docs/glossary.md'),
  };
}
