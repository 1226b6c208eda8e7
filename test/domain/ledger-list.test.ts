import { fold } from '../../src/domain/kernel/aggregate.js';
import { highest, sizeOf, withRange } from '../../src/domain/scratchpad/index-ranges.js';
import {
  append,
  clear,
  extentOf,
  fastForward,
  holesIn,
  isEntry,
  markDuplicate,
  newList,
  reorder,
} from '../../src/domain/scratchpad/ledger-list.js';
import { currentGeneration, entriesIn, ledger } from '../../src/domain/scratchpad/ledger.js';
import { ledgerRules, listAfter, storedOrders } from '../contracts/ledger-rules.js';

describe.each(ledgerRules)('in a ledger, $rule', (rule) => {
  const { generation, elements, holes, covered } = rule.expected;

  it('by the list as a value', () => {
    const list = listAfter(rule);
    expect(list.elements.map((element) => (isEntry(element) ? element.id : element))).toEqual(elements);
    expect(extentOf(list)).toEqual({ generation, length: elements.length });
    expect(holesIn(list)).toBe(holes);
  });

  it('by the events of its stream, in whatever order they are stored', () => {
    for (const events of storedOrders(rule)) {
      const state = fold(
        ledger,
        events.map((event, revision) => ({
          ...event,
          id: `event-${revision}`,
          revision,
          at: '2026-01-01T00:00:00.000Z',
        })),
      );
      const current = currentGeneration(state);
      expect(current.number).toBe(generation);
      expect(current.covered).toEqual(covered);
      expect(highest(current.covered)).toBe(elements.length);
      expect(sizeOf(current.lost.reduce((all, [from, to]) => withRange(all, from, to), current.duplicates))).toBe(
        holes,
      );
      expect(entriesIn(current)).toBe(elements.length - holes);
    }
  });
});

describe('a ledger as a list', () => {
  const a = { id: 'a' };
  const b = { id: 'b' };
  const list = append(append(newList<{ readonly id: string }>(), a), b);

  it('is a value that no change alters', () => {
    const before = structuredClone(list);
    append(list, a);
    clear(list);
    fastForward(list, { generation: 3, length: 4 });
    reorder(list, { generation: 0, length: 2, layoutVersion: 0 }, [2, 1]);
    markDuplicate(list, { generation: 0, index: 2, entryId: 'b', of: 1 });
    expect(list).toEqual(before);
  });

  it('continues where a lost one ended', () => {
    const made = newList<{ readonly id: string }>({ generation: 2, length: 2 });
    expect(append(made, a)).toEqual({ generation: 2, layoutVersion: 0, elements: ['lost', 'lost', a] });
    expect(holesIn(made)).toBe(2);
  });

  it('is reordered only as it was seen', () => {
    const seen = { generation: 0, length: 2, layoutVersion: 0 };
    expect(reorder(list, seen, [2, 0, 1])).toEqual({ generation: 0, layoutVersion: 1, elements: [b, 'lost', a] });
    expect(reorder(list, { ...seen, generation: 1 }, [2, 1])).toBeUndefined();
    expect(reorder(list, { ...seen, length: 1 }, [2, 1])).toBeUndefined();
    expect(reorder(list, { ...seen, layoutVersion: 1 }, [2, 1])).toBeUndefined();
  });

  it('is not marked in another generation, nor where nothing stands', () => {
    expect(markDuplicate(list, { generation: 1, index: 2, entryId: 'b', of: 1 })).toEqual(list);
    expect(markDuplicate(list, { generation: 0, index: 3, entryId: 'b', of: 1 })).toEqual(list);
  });
});
