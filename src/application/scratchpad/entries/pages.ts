import { isRefusal, refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import { entryKinds, type EntryKind } from '../../../domain/scratchpad/entry-kinds.js';
import { rangesOf, type Ranges } from '../../../domain/scratchpad/index-ranges.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import type { IndexedEntry, LedgerElements } from '../../ports/ledger-store.js';
import type { PadContext } from '../pad-context.js';

/** A place in a ledger, as page cursors name it. */
export interface LedgerCursor {
  readonly generation: number;
  readonly index: number;
}

export interface PageOfEntries {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The last entry already seen. */
  readonly after: LedgerCursor | undefined;
}

export interface EntryPage {
  readonly entries: readonly (IndexedEntry & { readonly kind: EntryKind })[];
  /** Indexes of this part of the ledger that were lost. */
  readonly lost: Ranges;
  /** Where to continue; undefined at the end. */
  readonly next: LedgerCursor | undefined;
  /** The last index of the ledger. */
  readonly length: number;
  /** Entries in the ledger. */
  readonly count: number;
  readonly generation: number;
}

type Read = EntryPage | Refusal<'not_found'>;

/**
 * Reads a page of entries in the order of the ledger or against it. An entry that a retry pushed twice is shown once, at
 * its first index. After a clear, a cursor of the generation before continues at the beginning (asc) or at the end (desc).
 */
export async function readEntries(pad: PadContext, page: PageOfEntries): Promise<Read> {
  return (await isOpen(pad)) ? readPage(pad, page) : refuse('not_found');
}

/** Reads the end of the ledger: at most so many entries, and at most so many bytes as stored. */
export async function readLatest(
  pad: PadContext,
  most: { readonly entries: number; readonly bytes: number },
): Promise<Read> {
  if (!(await isOpen(pad))) return refuse('not_found');
  const page = await pad.consistency.run(() => pad.store.ledger.tail(pad.ref, most.entries, most.bytes));
  if (isRefusal(page)) return page;
  const before = page.length - page.entries.length - page.lost.length - page.duplicates.length;
  return pageOf(page, withKinds(page.entries), before > 0 ? before + 1 : undefined);
}

/** Why: keys of a deleted pad may not be gone yet, and its words must not be read. */
const isOpen = async ({ streams, scratchpadId }: PadContext): Promise<boolean> =>
  (await streams.aggregates.load(scratchpad, scratchpadId)).status === 'open';

async function readPage(pad: PadContext, { order, limit, after }: PageOfEntries): Promise<Read> {
  const end = (after?.index ?? 0) - 1;
  const from = order === 'asc' ? (after?.index ?? 0) : Math.max(0, end - limit);
  const count = order === 'asc' ? limit : Math.max(0, end - from);
  const page = await pad.consistency.run(() => pad.store.ledger.read(pad.ref, from, count));
  if (isRefusal(page)) return page;
  if (after && page.generation !== after.generation) {
    return order === 'asc' ? readPage(pad, { order, limit, after: undefined }) : pageOf(page, [], undefined);
  }
  if (order === 'asc') {
    return pageOf(page, withKinds(page.entries), from + limit < page.length ? from + limit : undefined);
  }
  if (!after) {
    return readPage(pad, { order, limit, after: { generation: page.generation, index: page.length + 1 } });
  }
  return pageOf(page, withKinds(page.entries).reverse(), from > 0 ? from + 1 : undefined);
}

const pageOf = (
  { lost, generation, length, holes }: LedgerElements,
  entries: EntryPage['entries'],
  next: number | undefined,
): EntryPage => ({
  entries,
  lost: rangesOf(lost),
  next: next === undefined ? undefined : { generation, index: next },
  length,
  generation,
  count: length - holes,
});

function withKinds(entries: readonly IndexedEntry[]): (IndexedEntry & { readonly kind: EntryKind })[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    if (seen.has(entry.id)) return [];
    seen.add(entry.id);
    return [{ ...entry, kind: kindOf(entry.kind) }];
  });
}

/** The kind of a stored entry. A kind that a later version wrote reads as a note. */
export const kindOf = (kind: string): EntryKind => entryKinds.find((known) => known === kind) ?? 'note';
