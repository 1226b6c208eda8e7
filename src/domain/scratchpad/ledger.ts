import type { Aggregate } from '../kernel/aggregate.js';
import type { LedgerEvent } from './events.js';
import { highest, sizeOf, withRange, type Ranges } from './index-ranges.js';

/** The entries between two clears. Invariant: within it an index names one entry for good. */
export interface Generation {
  /** Clears before it. */
  readonly number: number;
  /** Indexes that the stream accounts for: recorded, lost or duplicate. */
  readonly covered: Ranges;
  /** Indexes whose entry the list no longer has. */
  readonly lost: Ranges;
  /** Indexes where a retry appended an entry again that stands at an earlier index. */
  readonly duplicates: Ranges;
}

/**
 * What the stream knows of a ledger. Invariant: the state does not depend on the order in which concurrent writers stored
 * their events. A generation stays until the clear that ends it is recorded, so there are two while a clear is in progress.
 */
export interface Ledger {
  readonly generations: readonly [Generation, ...Generation[]];
  /** The latest clears that were finished, oldest first. */
  readonly finished: readonly { readonly clearId: string; readonly count: number }[];
}

const maxFinished = 256;

const empty = (number: number): Generation => ({ number, covered: [], lost: [], duplicates: [] });

export const ledger: Aggregate<Ledger, LedgerEvent> = {
  category: 'scratchpad_ledger',
  initial: { generations: [empty(0)], finished: [] },
  evolve: {
    'scratchpad.entry_appended': (state, { clears: number, index }) =>
      withGeneration(state, number, (generation) => ({ ...generation, covered: withRange(generation.covered, index) })),
    'scratchpad.entries_lost': (state, { clears: number, from, to }) =>
      withGeneration(state, number, (generation) => ({
        ...generation,
        covered: withRange(generation.covered, from, to),
        lost: withRange(generation.lost, from, to),
      })),
    'scratchpad.entry_repeated': (state, { clears: number, index }) =>
      withGeneration(state, number, (generation) => ({
        ...generation,
        covered: withRange(generation.covered, index),
        duplicates: withRange(generation.duplicates, index),
      })),
    'scratchpad.entries_cleared': (state, { clearId, count, clears: next = state.generations[0].number + 1 }) => {
      const [first = empty(next), ...later] = state.generations.filter(({ number }) => number >= next);
      const finished = state.finished.some((one) => one.clearId === clearId)
        ? state.finished
        : [...state.finished.slice(1 - maxFinished), { clearId, count }];
      return { generations: [first, ...later], finished };
    },
  },
  snapshotVersion: 2,
};

/** Changes a generation, also one that no clear is recorded for yet. An event of a generation that is over changes nothing. */
function withGeneration(
  state: Ledger,
  number: number | undefined,
  change: (generation: Generation) => Generation,
): Ledger {
  const [first, ...later] = state.generations;
  if (number === undefined || number === first.number) return { ...state, generations: [change(first), ...later] };
  if (number < first.number) return state;
  const known = later.find((one) => one.number === number) ?? empty(number);
  const changed = later.filter((one) => one.number !== number).concat(change(known));
  return { ...state, generations: [first, ...changed.sort((a, b) => a.number - b.number)] };
}

/** The generation that entries are appended to, as far as the stream knows. */
export const currentGeneration = ({ generations }: Ledger): Generation => generations.at(-1) ?? generations[0];

/** Counts the entries of a generation, as far as the stream knows. */
export function entriesIn({ covered, lost, duplicates }: Generation): number {
  const withoutEntry = lost.reduce<Ranges>((all, [from, to]) => withRange(all, from, to), duplicates);
  return highest(covered) - sizeOf(withoutEntry);
}

/** The generation of this number, empty when the stream does not know it yet; undefined when it is over. */
export const generationOf = ({ generations }: Ledger, number: number): Generation | undefined =>
  generations.find((one) => one.number === number) ?? (number > generations[0].number ? empty(number) : undefined);
