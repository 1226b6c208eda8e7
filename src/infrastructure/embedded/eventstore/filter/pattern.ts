import { parsePattern, PatternError, type Node } from './pattern-syntax.js';

/*
 * A client's pattern runs inside the server's one thread, so it must not be able to take long. This matcher never
 * backtracks: it walks the text once, following all possibilities at a time, and remembers the sets of possibilities
 * it has met. The time is bounded by the length of the text times the size of the pattern.
 */

const MAX_STATES = 2000;
const MAX_REMEMBERED = 500;
const EMPTY: readonly number[] = [];

type State =
  | { readonly kind: 'unit'; readonly set: Node & { kind: 'set' }; next: number }
  | { readonly kind: 'fork'; readonly next: number[] }
  | { readonly kind: 'start' | 'end'; next: number }
  | { readonly kind: 'match' };

/** A set of states, with the sets that each code unit leads to as far as they are known. */
interface Situation {
  readonly states: readonly number[];
  readonly matched: boolean;
  readonly matchesAtEnd: boolean;
  readonly next: Map<number, Situation>;
}

/** Whether a text contains a match of the pattern. Throws {@link PatternError} for a pattern that is not supported. */
export function compilePattern(source: string): (text: string) => boolean {
  const machine = new Machine(parsePattern(source));
  return (text) => machine.matches(text);
}

class Machine {
  private readonly states: State[] = [{ kind: 'match' }];
  private readonly entry: number;
  private remembered = new Map<string, Situation>();
  private initial: Situation;

  constructor(node: Node) {
    this.entry = this.build(node, 0);
    this.initial = this.situation([this.entry], true);
  }

  matches(text: string): boolean {
    let situation = this.initial;
    for (let index = 0; index < text.length; index += 1) {
      if (situation.matched) return true;
      situation = this.step(situation, text.charCodeAt(index));
    }
    return situation.matched || situation.matchesAtEnd || (text.length === 0 && this.matchesEmpty());
  }

  private matchesEmpty(): boolean {
    return this.closure([this.entry], true, true).includes(0);
  }

  private step(from: Situation, unit: number): Situation {
    const known = from.next.get(unit);
    if (known) return known;
    const reached = from.states.flatMap((index) => {
      const state = this.states[index];
      return state?.kind === 'unit' && holds(state.set, unit) ? [state.next] : EMPTY;
    });
    // A match may begin anywhere, so the entry is always a possibility.
    const to = this.situation([...reached, this.entry], false);
    if (from.next.size < 256) from.next.set(unit, to);
    return to;
  }

  private situation(from: readonly number[], atStart: boolean): Situation {
    const states = this.closure(from, atStart, false);
    const key = `${atStart ? '^' : ''}${states.join(' ')}`;
    const known = this.remembered.get(key);
    if (known) return known;
    if (this.remembered.size >= MAX_REMEMBERED) this.forget();
    const matchesAtEnd = this.closure(from, atStart, true).includes(0);
    const situation = { states, matched: states.includes(0), matchesAtEnd, next: new Map<number, Situation>() };
    this.remembered.set(key, situation);
    return situation;
  }

  private forget(): void {
    this.remembered = new Map();
    this.initial.next.clear();
  }

  /** All states reachable without reading. */
  private closure(from: readonly number[], atStart: boolean, atEnd: boolean): number[] {
    const seen = new Set<number>();
    const open = [...from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      const state = this.states[index];
      if (state?.kind === 'fork') open.push(...state.next);
      else if ((state?.kind === 'start' && atStart) || (state?.kind === 'end' && atEnd)) open.push(state.next);
    }
    return [...seen].sort((a, b) => a - b);
  }

  /** Adds the states for a node that lead on to `next`, and answers where they begin. */
  private build(node: Node, next: number): number {
    switch (node.kind) {
      case 'set':
        return this.add({ kind: 'unit', set: node, next });
      case 'start':
      case 'end':
        return this.add({ kind: node.kind, next });
      case 'sequence':
        return node.parts.reduceRight((behind, part) => this.build(part, behind), next);
      case 'choice':
        return this.add({ kind: 'fork', next: node.options.map((option) => this.build(option, next)) });
      case 'repeat':
        return this.repeat(node, next);
    }
  }

  private repeat({ part, min, max }: Node & { kind: 'repeat' }, next: number): number {
    let entry = next;
    if (max === Infinity) {
      const loop: State & { kind: 'fork' } = { kind: 'fork', next: [next] };
      entry = this.add(loop);
      loop.next.push(this.build(part, entry));
    } else {
      for (let count = min; count < max; count += 1) {
        entry = this.add({ kind: 'fork', next: [next, this.build(part, entry)] });
      }
    }
    for (let count = 0; count < min; count += 1) entry = this.build(part, entry);
    return entry;
  }

  private add(state: State): number {
    if (this.states.length >= MAX_STATES)
      throw new PatternError('A pattern is too large when its counts are written out.');
    return this.states.push(state) - 1;
  }
}

const holds = ({ ranges, negated }: Node & { kind: 'set' }, unit: number): boolean =>
  ranges.some(([first, last]) => unit >= first && unit <= last) !== negated;

export { PatternError };
