import type { Entry } from '../../src/application/ports/ledger-store.js';
import type { ScratchpadStore } from '../../src/application/ports/scratchpad-store.js';
import type { LedgerEvent } from '../../src/domain/scratchpad/events.js';
import type { Ranges } from '../../src/domain/scratchpad/index-ranges.js';
import type { Duplicate, LedgerElement, LedgerExtent, LedgerList } from '../../src/domain/scratchpad/ledger-list.js';
import * as lists from '../../src/domain/scratchpad/ledger-list.js';
import { at, entry, newPad } from './scratchpad-store-contract.js';

/** A change of the list. Entries are named by one letter. */
type ListChange =
  | { readonly change: 'append'; readonly entryId: string }
  | { readonly change: 'clear' }
  | { readonly change: 'fast-forward'; readonly extent: LedgerExtent }
  | { readonly change: 'reorder'; readonly order: readonly number[]; readonly stale: boolean }
  | { readonly change: 'mark duplicate'; readonly index: number; readonly duplicate: Duplicate };

export const scratchpadId = 'sp_1';

// What the list is made to do …
const append = (...entryIds: readonly string[]): ListChange[] =>
  entryIds.map((entryId) => ({ change: 'append', entryId }));
const clear: ListChange = { change: 'clear' };
const fastForward = (generation: number, length: number): ListChange => ({
  change: 'fast-forward',
  extent: { generation, length },
});
const reorder = (...order: readonly number[]): ListChange => ({ change: 'reorder', order, stale: false });
/** As by a repair that read the list before its last reordering. */
const reorderLate = (...order: readonly number[]): ListChange => ({ change: 'reorder', order, stale: true });
const markDuplicate = (index: number, entryId: string, of: number): ListChange => ({
  change: 'mark duplicate',
  index,
  duplicate: { entryId, of },
});

// … and what is recorded in the stream.
const author = { type: 'key', id: 'key_1' } as const;
const appended = (entryId: string, index: number, clears = 0): LedgerEvent => ({
  type: 'scratchpad.entry_appended',
  data: { scratchpadId, entryId, index, clears, kind: 'note', bytes: 1, sha256: 'ab', author },
});
const cleared = (clears: number, count: number): LedgerEvent => ({
  type: 'scratchpad.entries_cleared',
  data: { scratchpadId, clearId: `clear-${clears}`, count, lastEntryId: null, clears },
});
const lost = (from: number, to: number, clears = 0): LedgerEvent => ({
  type: 'scratchpad.entries_lost',
  data: { scratchpadId, clears, from, to, reason: 'tail' },
});
const duplicated = (entryId: string, index: number, of: number, clears = 0): LedgerEvent => ({
  type: 'scratchpad.entry_repeated',
  data: { scratchpadId, clears, entryId, index, of },
});

interface LedgerRule {
  readonly rule: string;
  readonly list: readonly ListChange[];
  readonly stream: readonly LedgerEvent[];
  readonly expected: {
    readonly generation: number;
    /** What stands at index 1, 2, … of the list: an entry's id, 'lost', or a duplicate. */
    readonly elements: readonly LedgerElement<string>[];
    /** Indexes that hold no entry. */
    readonly holes: number;
    /** Indexes that the stream accounts for, most often all. */
    readonly covered: Ranges;
  };
}

/**
 * The rules of a ledger, once for all that keep one. Invariant: the list (a value, Redis scripts, memory) and what is
 * folded from the stream (the aggregate, the SQL of the read model) agree on generation, length, holes and entries.
 */
export const ledgerRules: readonly LedgerRule[] = [
  {
    rule: 'a new ledger is empty',
    list: [],
    stream: [],
    expected: { generation: 0, elements: [], holes: 0, covered: [] },
  },
  {
    rule: 'each entry gets the next index',
    list: append('a', 'b', 'c'),
    stream: [appended('a', 1), appended('b', 2), appended('c', 3)],
    expected: { generation: 0, elements: ['a', 'b', 'c'], holes: 0, covered: [[1, 3]] },
  },
  {
    rule: 'an entry that is not recorded yet leaves its index uncovered',
    list: append('a', 'b', 'c'),
    stream: [appended('a', 1), appended('c', 3)],
    expected: {
      generation: 0,
      elements: ['a', 'b', 'c'],
      holes: 0,
      covered: [
        [1, 1],
        [3, 3],
      ],
    },
  },
  {
    rule: 'a clear begins the next generation, which is empty',
    list: append('a', 'b').concat(clear),
    stream: [appended('a', 1), appended('b', 2), cleared(1, 2)],
    expected: { generation: 1, elements: [], holes: 0, covered: [] },
  },
  {
    rule: 'indexes begin again after each clear',
    list: append('a', 'b').concat(clear, append('c'), clear, append('d', 'e')),
    stream: [
      appended('a', 1),
      appended('b', 2),
      cleared(1, 2),
      appended('c', 1, 1),
      cleared(2, 1),
      appended('d', 1, 2),
      appended('e', 2, 2),
    ],
    expected: { generation: 2, elements: ['d', 'e'], holes: 0, covered: [[1, 2]] },
  },
  {
    rule: 'a lost tail leaves holes, and entries go on after them',
    list: append('a').concat(fastForward(0, 3), append('d')),
    stream: [appended('a', 1), lost(2, 3), appended('d', 4)],
    expected: { generation: 0, elements: ['a', 'lost', 'lost', 'd'], holes: 2, covered: [[1, 4]] },
  },
  {
    rule: 'an entry that was recorded before it was lost is no longer counted',
    list: append('a').concat(fastForward(0, 2)),
    stream: [appended('a', 1), appended('b', 2), lost(2, 2)],
    expected: { generation: 0, elements: ['a', 'lost'], holes: 1, covered: [[1, 2]] },
  },
  {
    rule: 'a list that reaches far enough is left as it is',
    list: append('a', 'b').concat(fastForward(0, 1)),
    stream: [appended('a', 1), appended('b', 2)],
    expected: { generation: 0, elements: ['a', 'b'], holes: 0, covered: [[1, 2]] },
  },
  {
    rule: 'a list of an earlier generation gives way to the one that the stream knows',
    list: append('a', 'b', 'c').concat(fastForward(1, 2), append('f')),
    stream: [appended('a', 1), appended('b', 2), appended('c', 3), cleared(1, 3), lost(1, 2, 1), appended('f', 3, 1)],
    expected: { generation: 1, elements: ['lost', 'lost', 'f'], holes: 2, covered: [[1, 3]] },
  },
  {
    rule: 'a list of a later generation does not go back',
    list: append('a').concat(clear, append('b'), fastForward(0, 9)),
    stream: [appended('a', 1), cleared(1, 1), appended('b', 1, 1)],
    expected: { generation: 1, elements: ['b'], holes: 0, covered: [[1, 1]] },
  },
  {
    rule: 'a retry that was pushed again holds no entry of its own',
    list: append('a', 'b', 'a').concat(markDuplicate(3, 'a', 1), append('c')),
    stream: [appended('a', 1), appended('b', 2), duplicated('a', 3, 1), appended('c', 4)],
    expected: { generation: 0, elements: ['a', 'b', { entryId: 'a', of: 1 }, 'c'], holes: 1, covered: [[1, 4]] },
  },
  {
    rule: 'an index is marked as a duplicate once, and only where that entry stands',
    list: append('a', 'b', 'a').concat(markDuplicate(3, 'a', 1), markDuplicate(3, 'a', 1), markDuplicate(2, 'a', 1)),
    stream: [appended('a', 1), appended('b', 2), duplicated('a', 3, 1), duplicated('a', 3, 1)],
    expected: { generation: 0, elements: ['a', 'b', { entryId: 'a', of: 1 }], holes: 1, covered: [[1, 3]] },
  },
  {
    rule: 'entries go back to the indexes that are recorded',
    list: append('b', 'c', 'a').concat(reorder(3, 1, 2)),
    stream: [appended('a', 1), appended('b', 2), appended('c', 3)],
    expected: { generation: 0, elements: ['a', 'b', 'c'], holes: 0, covered: [[1, 3]] },
  },
  {
    rule: 'an entry that was recorded as lost and is present again moves to the end',
    list: append('a', 'b', 'c').concat(reorder(1, 0, 3, 2)),
    stream: [appended('a', 1), appended('b', 2), appended('c', 3), lost(2, 2), appended('b', 4)],
    expected: { generation: 0, elements: ['a', 'lost', 'c', 'b'], holes: 1, covered: [[1, 4]] },
  },
  {
    rule: 'a duplicate stays one when elements move',
    list: append('b', 'a', 'b').concat(markDuplicate(3, 'b', 2), reorder(2, 1, 3)),
    stream: [appended('a', 1), appended('b', 2), duplicated('b', 3, 2)],
    expected: { generation: 0, elements: ['a', 'b', { entryId: 'b', of: 2 }], holes: 1, covered: [[1, 3]] },
  },
  {
    rule: 'a list that was reordered since it was read is not reordered',
    list: append('b', 'a').concat(reorder(2, 1), reorderLate(2, 1)),
    stream: [appended('a', 1), appended('b', 2)],
    expected: { generation: 0, elements: ['a', 'b'], holes: 0, covered: [[1, 2]] },
  },
  {
    rule: 'holes and duplicates end with their generation',
    list: append('a', 'a').concat(markDuplicate(2, 'a', 1), fastForward(0, 4), clear, append('b')),
    stream: [appended('a', 1), duplicated('a', 2, 1), lost(3, 4), cleared(1, 1), appended('b', 1, 1)],
    expected: { generation: 1, elements: ['b'], holes: 0, covered: [[1, 1]] },
  },
];

/** The orders in which the stream may hold the events of a rule: as they happened, the other way round, and each twice. */
export const storedOrders = ({ stream }: LedgerRule): readonly (readonly LedgerEvent[])[] => [
  stream,
  stream.toReversed(),
  stream.flatMap((event) => [event, event]),
];

/** Applies the changes of a rule to the list as a value. */
export const listAfter = ({ list }: LedgerRule): LedgerList<Entry> =>
  list.reduce<LedgerList<Entry>>((before, change) => changed(before, change), lists.newList());

function changed(list: LedgerList<Entry>, change: ListChange): LedgerList<Entry> {
  switch (change.change) {
    case 'append':
      return lists.append(list, { ...entry(), id: change.entryId });
    case 'clear':
      return lists.clear(list);
    case 'fast-forward':
      return lists.fastForward(list, change.extent);
    case 'reorder':
      return lists.reorder(list, seenAs(list.layoutVersion, lists.extentOf(list), change), change.order) ?? list;
    case 'mark duplicate':
      return lists.markDuplicate(list, { ...change.duplicate, index: change.index, generation: list.generation });
  }
}

const seenAs = (
  layoutVersion: number,
  { generation, length }: LedgerExtent,
  { stale }: { readonly stale: boolean },
) => ({ generation, length, layoutVersion: stale ? layoutVersion - 1 : layoutVersion });

/** Applies the changes of a rule to a pad of a store and answers the list as it is read then. */
export async function listInStore(store: ScratchpadStore, { list }: LedgerRule): Promise<LedgerList<string>> {
  const pad = newPad();
  await store.keys.create(pad, at);
  const read = async () => {
    const elements = await store.ledger.read(pad, 0, 1_000);
    if (!elements) throw new Error('the pad is absent');
    return elements;
  };
  let clears = 0;
  for (const change of list) {
    const before = await read();
    const { generation } = before;
    if (change.change === 'append') {
      const pushed = await store.ledger.append(pad, { ...entry(), id: change.entryId });
      expect(pushed).toEqual({ index: before.length + 1, generation });
    } else if (change.change === 'clear') await store.ledger.clear(pad, `clear-${(clears += 1)}`);
    else if (change.change === 'fast-forward') await store.repair.fastForward(pad, change.extent);
    else if (change.change === 'reorder') {
      const done = await store.repair.reorder(pad, seenAs(before.layoutVersion, before, change), change.order, []);
      expect(done).toBe(!change.stale);
    } else await store.repair.markDuplicate(pad, { ...change.duplicate, index: change.index, generation });
  }
  const after = await read();
  const elements = Array<LedgerElement<string>>(after.length);
  for (const { id, index } of after.entries) elements[index - 1] = id;
  for (const index of after.lost) elements[index - 1] = 'lost';
  for (const { index, entryId, of } of after.duplicates) elements[index - 1] = { entryId, of };
  expect(after.holes).toBe(after.lost.length + after.duplicates.length);
  expect((await store.keys.state(pad)).ledger).toEqual({ generation: after.generation, length: after.length });
  return { generation: after.generation, layoutVersion: after.layoutVersion, elements };
}
