import { entryKinds, type EntryKind } from '../../../domain/scratchpad/entry-kinds.js';
import { rangesOf, type Ranges } from '../../../domain/scratchpad/index-ranges.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { isSound, reconcile } from '../consistency.js';
import type { PadContext } from '../lifecycle.js';
import type { IndexedEntry, LedgerElements } from '../../ports/ledger-store.js';
import type { PadRef } from '../../ports/pad-keys.js';

export interface EntryPageRequest {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The last entry already seen. */
  readonly after: LedgerCursor | undefined;
}

/** A place in a ledger: an index, and how many clears there were before it. */
export interface LedgerCursor {
  readonly generation: number;
  readonly index: number;
}

export interface EntryPage {
  readonly entries: readonly (IndexedEntry & { readonly kind: EntryKind })[];
  /** What of the stretch was lost. */
  readonly lost: Ranges;
  /** Where to go on after; undefined at the end. */
  readonly next: LedgerCursor | undefined;
  /** The last index of the ledger. */
  readonly length: number;
  /** Entries in the ledger. */
  readonly count: number;
  readonly generation: number;
}

/**
 * A stretch of the ledger, or undefined when the pad is not alive. An entry pushed twice by a retry is shown once, at its
 * first place. Who goes on after a clear begins with what was appended since, in the order of the ledger; against it, there is nothing more.
 */
export async function readEntries(
  pad: PadRef,
  stretch: EntryPageRequest,
  work: PadContext,
): Promise<EntryPage | undefined> {
  return (await isReadable(pad, work)) ? stretchOf(pad, stretch, work) : undefined;
}

/** The end of the ledger: at most so many entries, and no more of them than take so many bytes where they are kept. */
export async function readLatest(
  pad: PadRef,
  most: { readonly entries: number; readonly bytes: number },
  work: PadContext,
): Promise<EntryPage | undefined> {
  if (!(await isReadable(pad, work))) return undefined;
  const read = () => work.working.ledger.tail(pad, most.entries, most.bytes);
  const page = (await read()) ?? ((await reconcile(pad, work)) ? await read() : undefined);
  if (!page) return undefined;
  const before = page.length - page.entries.length - page.lost.length - page.duplicates.length;
  return pageOf(page, shown(page.entries), before > 0 ? before + 1 : undefined);
}

async function isReadable(pad: PadRef, work: PadContext): Promise<boolean> {
  const state = await work.streams.load(scratchpad, pad.scratchpadId);
  return state.status === 'open' && (await isSound(pad, work));
}

async function stretchOf(pad: PadRef, stretch: EntryPageRequest, work: PadContext): Promise<EntryPage | undefined> {
  const { order, limit, after } = stretch;
  const from = order === 'asc' ? (after?.index ?? 0) : Math.max(0, (after?.index ?? 0) - 1 - limit);
  const count = order === 'asc' ? limit : Math.max(0, (after?.index ?? 0) - 1 - from);
  const page = await elements(pad, from, count, work);
  if (!page) return undefined;
  if (after && page.generation !== after.generation) {
    return order === 'asc' ? stretchOf(pad, { ...stretch, after: undefined }, work) : pageOf(page, [], undefined);
  }
  if (order === 'asc') return pageOf(page, shown(page.entries), from + limit < page.length ? from + limit : undefined);
  if (!after)
    return stretchOf(pad, { ...stretch, after: { generation: page.generation, index: page.length + 1 } }, work);
  return pageOf(page, shown(page.entries).reverse(), from > 0 ? from + 1 : undefined);
}

async function elements(
  pad: PadRef,
  after: number,
  limit: number,
  work: PadContext,
): Promise<LedgerElements | undefined> {
  const page = await work.working.ledger.read(pad, after, limit);
  if (page) return page;
  return (await reconcile(pad, work)) ? work.working.ledger.read(pad, after, limit) : undefined;
}

const pageOf = (page: LedgerElements, entries: EntryPage['entries'], next: number | undefined): EntryPage => ({
  entries,
  lost: rangesOf(page.lost),
  next: next === undefined ? undefined : { generation: page.generation, index: next },
  ...{ length: page.length, generation: page.generation },
  count: page.length - page.holes,
});

function shown(entries: readonly IndexedEntry[]): (IndexedEntry & { readonly kind: EntryKind })[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    if (seen.has(entry.id)) return [];
    seen.add(entry.id);
    return [{ ...entry, kind: kindOf(entry.kind) }];
  });
}

/** A kind that a later version wrote reads as a note. */
export const kindOf = (kind: string): EntryKind => entryKinds.find((known) => known === kind) ?? 'note';
