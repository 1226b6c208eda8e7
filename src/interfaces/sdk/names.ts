/**
 * Where an operation is found in the client: families in the plural, words in camelCase. The types below spell names as
 * the functions beside them do; a test holds the two together.
 */
const uncounted = [
  'audit',
  'content',
  'enrollment',
  'maps',
  'me',
  'metadata',
  'research',
  'usage',
  'wallet',
  'web',
] as const;

type Uncounted = (typeof uncounted)[number];
type Vowel = 'a' | 'e' | 'i' | 'o' | 'u';

type Plural<Noun extends string> = Noun extends Uncounted
  ? Noun
  : Noun extends `${string}s`
    ? `${Noun}es`
    : Noun extends `${string}${Vowel}y`
      ? `${Noun}s`
      : Noun extends `${infer Stem}y`
        ? `${Stem}ies`
        : `${Noun}s`;

function plural(noun: string): string {
  if ((uncounted as readonly string[]).includes(noun)) return noun;
  if (noun.endsWith('s')) return `${noun}es`;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

type Camel<Word extends string> = Word extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Word;

const camel = (word: string): string => word.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `scratchpad.entry.append` is `scratchpads.entries.append`. A name without a family is a tool's: `tools.readScratchpad`. */
export type Place<Name extends string> = Name extends `${string}.${string}` ? Below<Name> : `tools.${Camel<Name>}`;

type Below<Name extends string> = Name extends `${infer Family}.${infer Rest}`
  ? `${Plural<Family>}.${Below<Rest>}`
  : Camel<Name>;

/** `thread.create` is also `threads.createThread`. */
export type Alias<Name extends string> = Name extends `${infer Family}.create`
  ? Family extends `${string}.${string}`
    ? never
    : `${Plural<Family>}.create${Capitalize<Family>}`
  : never;

/** All of the above, taken apart at the dots; and the places of the name that a renamed operation had before. */
export function placesOf(name: string, formerName?: string): readonly (readonly string[])[] {
  return formerName === undefined ? placesOfOne(name) : [...placesOfOne(name), ...placesOfOne(formerName)];
}

function placesOfOne(name: string): readonly (readonly string[])[] {
  const words = name.split('.');
  const verb = camel(words.at(-1) ?? '');
  const families = words.slice(0, -1).map(plural);
  if (families.length === 0) return [['tools', verb]];
  const [family = ''] = words;
  const alias = `create${family.charAt(0).toUpperCase()}${family.slice(1)}`;
  const hasAlias = verb === 'create' && families.length === 1;
  const place = [...families, verb];
  return hasAlias ? [place, [...families, alias]] : [place];
}
