/** Regular expressions without what needs backtracking: no references, no look-around, no word boundaries. */
export type Node =
  | { readonly kind: 'set'; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' };

/** First and last UTF-16 code unit. */
export type Range = readonly [number, number];

/** Says what about a pattern is not supported, in words fit for the person who wrote it. */
export class PatternError extends Error {}

const MAX_LENGTH = 1000;
const MAX_REPEAT = 100;

const DIGIT: readonly Range[] = [[48, 57]];
const WORD: readonly Range[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const SPACE: readonly Range[] = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_END: readonly Range[] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const CLASSES: Readonly<Record<string, readonly Range[]>> = { d: DIGIT, w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 };

export function parsePattern(source: string): Node {
  if (source.length > MAX_LENGTH) throw new PatternError(`A pattern has at most ${MAX_LENGTH} characters.`);
  return new Parser(source).parse();
}

class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly source: string) {}

  parse(): Node {
    const node = this.choice();
    if (this.at < this.source.length) throw new PatternError('A pattern closes a group that it did not open.');
    return node;
  }

  private choice(): Node {
    if (++this.depth > 50) throw new PatternError('A pattern nests at most 50 groups.');
    const options = [this.sequence()];
    while (this.took('|')) options.push(this.sequence());
    this.depth -= 1;
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options };
  }

  private sequence(): Node {
    const parts: Node[] = [];
    while (this.at < this.source.length && !this.sees('|') && !this.sees(')')) parts.push(this.repeated(this.atom()));
    return { kind: 'sequence', parts };
  }

  private atom(): Node {
    const character = this.take();
    switch (character) {
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      case '.':
        return { kind: 'set', ranges: LINE_END, negated: true };
      case '(':
        return this.group();
      case '[':
        return this.set();
      case '\\':
        return this.escape();
      case '*':
      case '+':
      case '?':
        throw new PatternError('A pattern repeats nothing.');
      default:
        return literal(character);
    }
  }

  private group(): Node {
    if (this.took('?') && !this.took(':'))
      throw new PatternError('Patterns have no look-around, no names and no flags.');
    const node = this.choice();
    if (!this.took(')')) throw new PatternError('A pattern opens a group that it does not close.');
    return node;
  }

  private repeated(part: Node): Node {
    const bounds = this.bounds();
    if (!bounds) return part;
    if (part.kind === 'start' || part.kind === 'end') throw new PatternError('A pattern repeats an anchor.');
    this.took('?'); // lazy or greedy: whether there is a match is the same
    if (this.sees('*') || this.sees('+') || this.sees('?')) throw new PatternError('A pattern repeats a repetition.');
    return { kind: 'repeat', part, ...bounds };
  }

  private bounds(): { min: number; max: number } | undefined {
    if (this.took('*')) return { min: 0, max: Infinity };
    if (this.took('+')) return { min: 1, max: Infinity };
    if (this.took('?')) return { min: 0, max: 1 };
    const braces = /^\{(\d+)(,?)(\d*)\}/.exec(this.source.slice(this.at));
    if (!braces) return undefined;
    this.at += braces[0].length;
    const min = Number(braces[1]);
    const max = braces[2] === '' ? min : braces[3] === '' ? Infinity : Number(braces[3]);
    if (min > max) throw new PatternError('A pattern repeats at least more often than at most.');
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
      throw new PatternError(`A pattern counts to at most ${MAX_REPEAT}.`);
    }
    return { min, max };
  }

  private escape(): Node {
    const letter = this.take();
    const ranges = CLASSES[letter.toLowerCase()];
    if (ranges) return { kind: 'set', ranges, negated: letter !== letter.toLowerCase() };
    return literal(String.fromCharCode(this.escaped(letter)));
  }

  /** The code unit that an escape of one character stands for. */
  private escaped(letter: string): number {
    const control = CONTROLS[letter];
    if (control !== undefined) return control;
    if (letter === 'x') return this.hex(2);
    if (letter === 'u') return this.hex(4);
    if (/[A-Za-z0-9]/.test(letter)) throw new PatternError(`Patterns have no \\${letter}.`);
    return letter.charCodeAt(0);
  }

  private hex(digits: number): number {
    const text = this.source.slice(this.at, this.at + digits);
    if (!/^[0-9a-fA-F]+$/.test(text) || text.length !== digits)
      throw new PatternError('A pattern has a broken escape.');
    this.at += digits;
    return Number.parseInt(text, 16);
  }

  private set(): Node {
    const negated = this.took('^');
    const ranges: Range[] = [];
    while (!this.took(']')) ranges.push(...this.member());
    return { kind: 'set', ranges, negated };
  }

  private member(): readonly Range[] {
    const first = this.unit();
    if (typeof first !== 'number') return first;
    if (!this.sees('-') || this.source[this.at + 1] === ']') return [[first, first]];
    this.at += 1;
    const last = this.unit();
    if (typeof last !== 'number' || last < first) throw new PatternError('A pattern has a range out of order.');
    return [[first, last]];
  }

  private unit(): number | readonly Range[] {
    const character = this.take();
    if (character !== '\\') return character.charCodeAt(0);
    const letter = this.take();
    if (letter === 'b') return 8;
    const ranges = CLASSES[letter.toLowerCase()];
    if (!ranges) return letter === '-' ? 45 : this.escaped(letter);
    return letter === letter.toLowerCase() ? ranges : complement(ranges);
  }

  private sees(character: string): boolean {
    return this.source[this.at] === character;
  }

  private took(character: string): boolean {
    if (!this.sees(character)) return false;
    this.at += 1;
    return true;
  }

  private take(): string {
    const character = this.source[this.at];
    if (character === undefined) throw new PatternError('A pattern ends too early.');
    this.at += 1;
    return character;
  }
}

const literal = (character: string): Node => {
  const unit = character.charCodeAt(0);
  return { kind: 'set', ranges: [[unit, unit]], negated: false };
};

function complement(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  let next = 0;
  for (const [first, last] of ranges) {
    if (first > next) result.push([next, first - 1]);
    next = last + 1;
  }
  return [...result, [next, 0xffff]];
}
