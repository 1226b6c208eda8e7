import type { Aggregate } from '../kernel/decider.js';
import type { LedgerEvent } from './events.js';
import { highest, sizeOf, withRange, type Ranges } from './index-ranges.js';

/** The entries between two clears. Within it an index names one entry for good; the next clear begins the numbering again. */
export interface Era {
  /** How many clears there were before it. */
  readonly clears: number;
  /** Every index that the stream speaks of: audited, lost or repeated. */
  readonly told: Ranges;
  /** Indexes whose entry the working state no longer has. */
  readonly lost: Ranges;
  /** Indexes where a retry pushed an entry once more that stands at an earlier place. */
  readonly repeated: Ranges;
}

/**
 * What the audit stream knows of a ledger, whatever the order in which concurrent writers stored their events. An era
 * stays until the clear that ends it is recorded, so there are two while a clear is under way.
 */
export interface Ledger {
  readonly eras: readonly [Era, ...Era[]];
  /** The latest clears that were finished, oldest first. */
  readonly finished: readonly { readonly clearId: string; readonly count: number }[];
}

const rememberedClears = 256;

const beginning = (clears: number): Era => ({ clears, told: [], lost: [], repeated: [] });

export const ledger: Aggregate<Ledger, LedgerEvent> = {
  category: 'scratchpad_ledger',
  initial: { eras: [beginning(0)], finished: [] },
  evolve: {
    'scratchpad.entry_appended': (state, { clears, index }) =>
      during(state, clears, (era) => ({ ...era, told: withRange(era.told, index) })),
    'scratchpad.entries_lost': (state, { clears, from, to }) =>
      during(state, clears, (era) => ({
        ...era,
        told: withRange(era.told, from, to),
        lost: withRange(era.lost, from, to),
      })),
    'scratchpad.entry_repeated': (state, { clears, index }) =>
      during(state, clears, (era) => ({
        ...era,
        told: withRange(era.told, index),
        repeated: withRange(era.repeated, index),
      })),
    'scratchpad.entries_cleared': (state, { clearId, count, clears = state.eras[0].clears + 1 }) => {
      const [first = beginning(clears), ...later] = state.eras.filter((era) => era.clears >= clears);
      const finished = state.finished.some((one) => one.clearId === clearId)
        ? state.finished
        : [...state.finished.slice(1 - rememberedClears), { clearId, count }];
      return { eras: [first, ...later], finished };
    },
  },
};

/** Changes an era, which may be one that no clear is recorded for yet; what comes late of one that is over changes nothing. */
function during(state: Ledger, clears: number | undefined, change: (era: Era) => Era): Ledger {
  const [first, ...later] = state.eras;
  if (clears === undefined || clears === first.clears) return { ...state, eras: [change(first), ...later] };
  if (clears < first.clears) return state;
  const known = later.find((era) => era.clears === clears) ?? beginning(clears);
  const others = later.filter((era) => era.clears !== clears);
  return { ...state, eras: [first, ...[...others, change(known)].sort((a, b) => a.clears - b.clears)] };
}

/** The era that entries are appended to, as far as the stream knows. */
export const currentEra = ({ eras }: Ledger): Era => eras.at(-1) ?? eras[0];

/** How many entries an era holds, as far as the stream knows. */
export function entriesIn({ told, lost, repeated }: Era): number {
  const gone = lost.reduce<Ranges>((all, [from, to]) => withRange(all, from, to), repeated);
  return highest(told) - sizeOf(gone);
}

/** An era that is not over, or that has not been heard of; undefined when it is over. */
export const eraOf = ({ eras }: Ledger, clears: number): Era | undefined =>
  eras.find((era) => era.clears === clears) ?? (clears > eras[0].clears ? beginning(clears) : undefined);
