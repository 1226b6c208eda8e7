import { maxDepth, nameable } from '../../application/kernel/validation.js';
import type { Issue } from '../../domain/kernel/refusal.js';

/** Elements that one array of a body may have. */
export const maxElements = 10_000;

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** An object or array that is open at the place where the scan stands. */
interface Open {
  readonly isArray: boolean;
  index: number;
  awaitsName: boolean;
  name: string | undefined;
  /** Made with the second name: most objects are small, many have one. */
  names: Set<string> | undefined;
}

/**
 * Finds what JSON.parse would accept in silence, or choke on: nesting without end, names given twice (the last would
 * win), `__proto__`, endless arrays, numbers that lose digits. One pass, before parsing; a text without issue may still
 * not be JSON.
 */
export function scanJson(text: string): Issue | undefined {
  const open: Open[] = [];
  let inner: Open | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = closingQuote(text, at);
      const rule = inner?.awaitsName ? nameRule(inner, text.slice(at + 1, end)) : undefined;
      if (rule !== undefined) return { param: pathOf(open), rule };
      at = end;
    } else if (code === openBrace || code === openBracket) {
      if (open.length >= maxDepth) return { param: pathOf(open.slice(0, 3)), rule: `at most ${maxDepth} levels deep` };
      const isArray = code === openBracket;
      inner = { isArray, index: 0, awaitsName: !isArray, name: undefined, names: undefined };
      open.push(inner);
    } else if (code === comma && inner) {
      inner.index += 1;
      inner.awaitsName = !inner.isArray;
      if (inner.isArray && inner.index >= maxElements) {
        return { param: pathOf(open.slice(0, -1)), rule: `at most ${maxElements} elements` };
      }
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
      inner = open.at(-1);
    } else if (code === minus || (code >= zero && code <= nine)) {
      const end = endOfNumber(text, at);
      if (losesDigits(text, at, end)) {
        return { param: pathOf(open), rule: 'a number beyond 9007199254740991 loses digits: send it as a string' };
      }
      at = end - 1;
    }
  }
  return undefined;
}

function nameRule(object: Open, raw: string): string | undefined {
  const name = raw.includes('\\') ? unescaped(raw) : raw;
  const before = object.name;
  object.awaitsName = false;
  object.name = name;
  if (name === '__proto__') return 'unknown field';
  if (before === undefined) return undefined;
  object.names ??= new Set([before]);
  if (object.names.has(name)) return 'given more than once';
  object.names.add(name);
  return undefined;
}

function unescaped(raw: string): string {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw; // Not JSON, which the parser will say.
  }
}

/** Place of the quote that ends the string begun at `begin`; the text's length when there is none. */
function closingQuote(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let back = end;
    while (text.charCodeAt(back - 1) === backslash) back -= 1;
    if ((end - back) % 2 === 0) return end;
  }
  return text.length;
}

function endOfNumber(text: string, begin: number): number {
  let end = begin + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    // Digits, signs, the point and the exponent: whatever cannot end a number in JSON.
    if (code === comma || code === closeBrace || code === closeBracket || code <= 0x20 || code === quote) break;
  }
  return end;
}

const losesDigits = (text: string, begin: number, end: number): boolean =>
  (end - begin > 15 || text.slice(begin, end).toLowerCase().includes('e')) &&
  Math.abs(Number(text.slice(begin, end))) > Number.MAX_SAFE_INTEGER;

const pathOf = (open: readonly Open[]): string =>
  open.map(({ isArray, index, name }) => (isArray ? String(index) : nameable(name ?? ''))).join('.');
