import type { StoredEvent } from '../engine/events.js';
import type { FilterRequest } from '../protocol/read-request.js';
import { compilePattern, PatternError } from './pattern.js';

export interface Filter {
  matches(event: StoredEvent): boolean;
  /** How many events may be considered before a checkpoint is due. */
  readonly checkpointAfter: number;
}

const DEFAULT_WINDOW = 32;
const MAX_PREFIXES = 1000;

/** Makes a filter as a client describes it. Throws PatternError when it is not supported. */
export function makeFilter(request: FilterRequest): Filter {
  const { on, prefixes, regex, window = DEFAULT_WINDOW, interval } = request;
  const test = regex === '' ? hasPrefix(prefixes) : remembering(compilePattern(regex));
  return {
    matches: (event) => test(on === 'stream' ? event.stream : event.type),
    checkpointAfter: Math.max(1, window) * Math.max(1, interval),
  };
}

const hasPrefix = (prefixes: readonly string[]): ((text: string) => boolean) => {
  if (prefixes.length > MAX_PREFIXES) throw new PatternError(`A filter has at most ${MAX_PREFIXES} prefixes.`);
  return (text) => prefixes.some((prefix) => text.startsWith(prefix));
};

/** Types and busy streams come again and again. */
function remembering(test: (text: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    let result = known.get(text);
    if (result !== undefined) return result;
    result = test(text);
    if (known.size >= 1000) known.clear();
    known.set(text, result);
    return result;
  };
}
