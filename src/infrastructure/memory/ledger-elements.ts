import type { Entry, IndexedEntry, LedgerElements } from '../../application/ports/ledger-store.js';
import { holesIn, isEntry, type LedgerList } from '../../domain/scratchpad/ledger-list.js';

export type List = LedgerList<Entry>;

/** The last elements, at most `limit` and at most `bytes` as JSON, but at least one. */
export function tailOf(list: List, limit: number, bytes: number): LedgerElements {
  let count = 0;
  let left = bytes;
  for (const element of list.elements.slice(-limit).reverse()) {
    left -= Buffer.byteLength(JSON.stringify(element));
    if (left < 0 && count > 0) break;
    count += 1;
  }
  return elementsOf(list, list.elements.length - count, count);
}

/** Elements with index above `after`, at most `limit`. The copies are the caller's. */
export function elementsOf(list: List, after: number, limit: number): LedgerElements {
  const page = list.elements.slice(after, after + limit).map((element, place) => [element, after + place + 1] as const);
  return {
    entries: page.flatMap(([element, index]): IndexedEntry[] =>
      isEntry(element) ? [{ ...structuredClone(element), index }] : [],
    ),
    lost: page.flatMap(([element, index]) => (element === 'lost' ? [index] : [])),
    duplicates: page.flatMap(([element, index]) =>
      element === 'lost' || isEntry(element) ? [] : [{ ...element, index }],
    ),
    holes: holesIn(list),
    layoutVersion: list.layoutVersion,
    generation: list.generation,
    length: list.elements.length,
  };
}
