import type { Aggregate } from '../kernel/aggregate.js';
import type { LedgerEvent } from './events.js';
import { highest, sizeOf, withRange, type Ranges } from './index-ranges.js';

/** The entries between two clears. Within it an index names one entry for good; the next clear begins the numbering again. */
export interface Generation {
  /** How many clears there were before it. */
  readonly number: number;
  /** Every index that the stream speaks of: audited, lost or repeated. */
  readonly covered: Ranges;
  /** Indexes whose entry the working state no longer has. */
  readonly lost: Ranges;
  /** Indexes where a retry pushed an entry once more that stands at an earlier place. */
  readonly duplicates: Ranges;
}

/**
 * What the audit stream knows of a ledger, whatever the order in which concurrent writers stored their events. An era
 * stays until the clear that ends it is recorded, so there are two while a clear is under way.
 */
export interface Ledger {
  readonly generations: readonly [Generation, ...Generation[]];
  /** The latest clears that were finished, oldest first. */
  readonly finished: readonly { readonly clearId: string; readonly count: number }[];
}

const rememberedClears = 256;

const beginning = (clears: number): Generation => ({ number: clears, covered: [], lost: [], duplicates: [] });

export const ledger: Aggregate<Ledger, LedgerEvent> = {
  category: 'scratchpad_ledger',
  initial: { generations: [beginning(0)], finished: [] },
  evolve: {
    'scratchpad.entry_appended': (state, { clears, index }) =>
      during(state, clears, (era) => ({ ...era, covered: withRange(era.covered, index) })),
    'scratchpad.entries_lost': (state, { clears, from, to }) =>
      during(state, clears, (era) => ({
        ...era,
        covered: withRange(era.covered, from, to),
        lost: withRange(era.lost, from, to),
      })),
    'scratchpad.entry_repeated': (state, { clears, index }) =>
      during(state, clears, (era) => ({
        ...era,
        covered: withRange(era.covered, index),
        duplicates: withRange(era.duplicates, index),
      })),
    'scratchpad.entries_cleared': (state, { clearId, count, clears = state.generations[0].number + 1 }) => {
      const [first = beginning(clears), ...later] = state.generations.filter((era) => era.number >= clears);
      const finished = state.finished.some((one) => one.clearId === clearId)
        ? state.finished
        : [...state.finished.slice(1 - rememberedClears), { clearId, count }];
      return { generations: [first, ...later], finished };
    },
  },
};

/** Changes an era, which may be one that no clear is recorded for yet; what comes late of one that is over changes nothing. */
function during(state: Ledger, clears: number | undefined, change: (era: Generation) => Generation): Ledger {
  const [first, ...later] = state.generations;
  if (clears === undefined || clears === first.number) return { ...state, generations: [change(first), ...later] };
  if (clears < first.number) return state;
  const known = later.find((era) => era.number === clears) ?? beginning(clears);
  const others = later.filter((era) => era.number !== clears);
  return { ...state, generations: [first, ...[...others, change(known)].sort((a, b) => a.number - b.number)] };
}

/** The era that entries are appended to, as far as the stream knows. */
export const currentGeneration = ({ generations: eras }: Ledger): Generation => eras.at(-1) ?? eras[0];

/** How many entries an era holds, as far as the stream knows. */
export function entriesIn({ covered: told, lost, duplicates: repeated }: Generation): number {
  const gone = lost.reduce<Ranges>((all, [from, to]) => withRange(all, from, to), repeated);
  return highest(told) - sizeOf(gone);
}

/** An era that is not over, or that has not been heard of; undefined when it is over. */
export const generationOf = ({ generations: eras }: Ledger, clears: number): Generation | undefined =>
  eras.find((era) => era.number === clears) ?? (clears > eras[0].number ? beginning(clears) : undefined);
