/** How far a ledger reaches: its generation, and the last index that was assigned in it (0: none). */
export interface LedgerExtent {
  readonly generation: number;
  readonly length: number;
}

/** An index where a retry pushed an entry once more that stands at the earlier index `of`. */
export interface Duplicate {
  readonly entryId: string;
  readonly of: number;
}

/** What stands at an index: an entry, or a hole (a lost entry or a duplicate). */
export type LedgerElement<Entry> = Entry | 'lost' | Duplicate;

/**
 * A ledger as a list. Invariant: the element at index n is `elements[n - 1]`; within a generation an index is assigned
 * once. Why a value: Redis keeps the same list and changes it by scripts, which are tested against this
 * (test/contracts/ledger-rules.ts).
 */
export interface LedgerList<Entry> {
  readonly generation: number;
  /** How often the list was reordered in this generation. */
  readonly layoutVersion: number;
  readonly elements: readonly LedgerElement<Entry>[];
}

interface Listed {
  readonly id: string;
}

export const newList = <Entry>(
  { generation, length }: LedgerExtent = { generation: 0, length: 0 },
): LedgerList<Entry> => ({ generation, layoutVersion: 0, elements: Array<'lost'>(length).fill('lost') });

export const extentOf = ({ generation, elements }: LedgerList<unknown>): LedgerExtent => ({
  generation,
  length: elements.length,
});

export const isEntry = <Entry>(element: LedgerElement<Entry> | undefined): element is Entry =>
  typeof element === 'object' && element !== null && !('of' in element && 'entryId' in element);

/** How many indexes hold no entry. */
export const holesIn = ({ elements }: LedgerList<unknown>): number =>
  elements.filter((element) => !isEntry(element)).length;

/** Assigns the next index to an entry. */
export const append = <Entry>(list: LedgerList<Entry>, entry: Entry): LedgerList<Entry> => ({
  ...list,
  elements: [...list.elements, entry],
});

/** Begins the next generation. */
export const clear = <Entry>({ generation }: LedgerList<Entry>): LedgerList<Entry> =>
  newList({ generation: generation + 1, length: 0 });

/** Lifts the list to a generation and length: an earlier generation gives way, missing indexes become holes. */
export function fastForward<Entry>(list: LedgerList<Entry>, extent: LedgerExtent): LedgerList<Entry> {
  if (list.generation > extent.generation) return list;
  const lifted = list.generation < extent.generation ? newList<Entry>({ ...extent, length: 0 }) : list;
  const missing = Math.max(0, extent.length - lifted.elements.length);
  return { ...lifted, elements: lifted.elements.concat(Array<'lost'>(missing).fill('lost')) };
}

/**
 * Puts elements into another order: at place n what stood at index `order[n]`, or a hole where that is 0. Undefined when
 * the list is no longer as it was `seen`.
 */
export function reorder<Entry>(
  list: LedgerList<Entry>,
  seen: LedgerExtent & { readonly layoutVersion: number },
  order: readonly number[],
): LedgerList<Entry> | undefined {
  const { generation, layoutVersion, elements } = list;
  const isSame =
    generation === seen.generation && layoutVersion === seen.layoutVersion && elements.length === seen.length;
  if (!isSame) return undefined;
  return {
    generation,
    layoutVersion: layoutVersion + 1,
    elements: order.map((index) => elements[index - 1] ?? 'lost'),
  };
}

/** Marks an index as a duplicate, if the entry is what stands there. */
export function markDuplicate<Entry extends Listed>(
  list: LedgerList<Entry>,
  { generation, index, entryId, of }: Duplicate & { readonly generation: number; readonly index: number },
): LedgerList<Entry> {
  const element = list.elements[index - 1];
  if (list.generation !== generation || !isEntry(element) || element.id !== entryId) return list;
  return { ...list, elements: list.elements.with(index - 1, { entryId, of }) };
}
