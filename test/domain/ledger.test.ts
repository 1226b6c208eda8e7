import { fold } from '../../src/domain/kernel/aggregate.js';
import type { LedgerEvent } from '../../src/domain/scratchpad/events.js';
import { currentGeneration, entriesIn, generationOf, ledger } from '../../src/domain/scratchpad/ledger.js';
import { above, missingIn, contains, rangesOf, sizeOf, withRange } from '../../src/domain/scratchpad/index-ranges.js';

const scratchpadId = 'sp_1';
const appended = (index: number, clears = 0): LedgerEvent => ({
  type: 'scratchpad.entry_appended',
  data: {
    scratchpadId,
    entryId: `ent_${clears}_${index}`,
    index,
    clears,
    kind: 'note',
    bytes: 1,
    sha256: 'ab',
    author: { type: 'key', id: 'key_1' },
  },
});
const cleared = (clears: number): LedgerEvent => ({
  type: 'scratchpad.entries_cleared',
  data: { scratchpadId, clearId: `clear ${clears}`, count: 1, lastEntryId: null, clears },
});
const lost = (from: number, to: number, clears = 0): LedgerEvent => ({
  type: 'scratchpad.entries_lost',
  data: { scratchpadId, clears, from, to, reason: 'tail' },
});
const after = (...events: readonly LedgerEvent[]) =>
  fold(
    ledger,
    events.map((event, n) => ({ ...event, id: `event-${n}`, revision: n, at: '2026-01-01T00:00:00.000Z' })),
  );

describe('ranges', () => {
  it('join what touches and keep apart what does not, in any order', () => {
    expect(rangesOf([1, 2, 5, 3, 9, 4])).toEqual([
      [1, 5],
      [9, 9],
    ]);
    expect(
      withRange(
        [
          [1, 2],
          [8, 9],
        ],
        2,
        8,
      ),
    ).toEqual([[1, 9]]);
  });

  it('know what they contain, how much, and what is missing', () => {
    const ranges = rangesOf([2, 3, 6]);
    expect([1, 2, 3, 4, 6].map((number) => contains(ranges, number))).toEqual([false, true, true, false, true]);
    expect(sizeOf(ranges)).toBe(3);
    expect(missingIn(ranges, 1, 7)).toEqual([
      [1, 1],
      [4, 5],
      [7, 7],
    ]);
    expect(above(ranges, 2, [[6, 6]])).toEqual([[3, 3]]);
  });
});

describe('what a stream knows of a ledger', () => {
  it('does not depend on the order in which writers stored their events', () => {
    const events = [appended(1), appended(2), cleared(1), appended(1, 1), appended(2, 1)];
    const orders = [
      [0, 1, 2, 3, 4],
      [1, 0, 2, 4, 3],
      [3, 1, 4, 0, 2],
      [4, 3, 2, 1, 0],
    ];
    for (const order of orders) {
      const state = after(...order.flatMap((place) => events[place] ?? []));
      expect(state.generations).toEqual([{ number: 1, covered: [[1, 2]], lost: [], duplicates: [] }]);
    }
  });

  it('is the same when an event was stored twice', () => {
    expect(after(appended(1), cleared(1), appended(1, 1), cleared(1), appended(1))).toEqual(
      after(appended(1), cleared(1), appended(1, 1)),
    );
  });

  it('has the generation of an entry that was recorded before the clear it follows', () => {
    const state = after(appended(1), appended(1, 1));
    expect(state.generations.map(({ number }) => number)).toEqual([0, 1]);
    expect(currentGeneration(state).number).toBe(1);
    expect(generationOf(state, 0)?.covered).toEqual([[1, 1]]);
  });

  it('counts the entries of a generation without those that were lost or are duplicates', () => {
    const duplicate: LedgerEvent = {
      type: 'scratchpad.entry_repeated',
      data: { scratchpadId, clears: 0, entryId: 'ent_0_1', index: 5, of: 1 },
    };
    const state = after(appended(1), appended(6), lost(2, 3), duplicate, lost(5, 5));
    expect(entriesIn(currentGeneration(state))).toBe(3);
    expect(entriesIn(currentGeneration(after()))).toBe(0);
  });

  it('forgets a generation once its end is recorded, and its losses with it', () => {
    const state = after(appended(1), lost(1, 1), cleared(1));
    expect(generationOf(state, 0)).toBeUndefined();
    expect(currentGeneration(state)).toEqual({ number: 1, covered: [], lost: [], duplicates: [] });
  });
});
