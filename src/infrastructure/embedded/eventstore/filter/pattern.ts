import { RE2JS, RE2JSException } from 're2js';

/** Says what about a pattern is not supported, in words fit for the person who wrote it. */
export class PatternError extends Error {}

const MAX_LENGTH = 1000;
const MAX_COUNT = 100;
/** Bounds the time to compile, which takes up to 0.2 s for this much. */
const MAX_WRITTEN_OUT = 20_000;
/** Bounds the time for each character of a text. */
const MAX_INSTRUCTIONS = 2000;

/**
 * Compiles a client's pattern to a test of whether a text contains a match. `\d`, `\w`, `\s` and `\b` know ASCII only.
 * Invariant: the test takes time proportional to the length of the text. Why: patterns run in the server's one thread.
 * Fails when: the pattern is malformed, too large, or uses look-around or back-references → {@link PatternError}.
 */
export function compilePattern(source: string): (text: string) => boolean {
  if (source.length > MAX_LENGTH) throw new PatternError(`A pattern has at most ${MAX_LENGTH} characters.`);
  if (writtenOut(source) > MAX_WRITTEN_OUT) throw tooLarge();
  const pattern = compiled(source);
  if (pattern.programSize() > MAX_INSTRUCTIONS) throw tooLarge();
  return (text) => pattern.test(text);
}

/** An upper bound of a pattern's length with its counts written out: counts of groups may be nested, others may not. */
function writtenOut(source: string): number {
  let [ofGroups, ofCharacters] = [1, 1];
  for (const [, group, least = '', most] of source.matchAll(/(\)?)\{(\d+)(?:,(\d*))?\}/g)) {
    const count = Math.max(Number(least), Number(most ?? 0), 1);
    if (count > MAX_COUNT) throw new PatternError(`A pattern counts to at most ${MAX_COUNT}.`);
    if (group === ')') ofGroups *= count;
    else ofCharacters = Math.max(ofCharacters, count);
  }
  return source.length * ofGroups * ofCharacters;
}

function compiled(source: string): RE2JS {
  try {
    return RE2JS.compile(withBracedCodes(source));
  } catch (fault) {
    if (!(fault instanceof RE2JSException)) throw fault;
    throw new PatternError(`A pattern is refused (none may use look-around or back-references): ${fault.message}.`);
  }
}

/** Writes `\u00e4`, as EventStoreDB takes it, in the form that RE2 takes. */
const withBracedCodes = (source: string): string =>
  source.replace(/\\(?:u([0-9a-fA-F]{4})|[^])/g, (escape, code?: string) => (code ? `\\x{${code}}` : escape));

const tooLarge = (): PatternError => new PatternError('A pattern is too large when its counts are written out.');
