import { entryKinds, type EntryKind } from '../domain/scratchpad/entry-kinds.js';
import { scratchpad } from '../domain/scratchpad/scratchpad.js';
import { makeWorkingState, type PadWork } from './pads.js';
import type { IndexedEntry, PadRef } from './ports.js';

export interface LedgerStretch {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Index of the last entry already seen. */
  readonly after: number | undefined;
}

export interface LedgerPage {
  readonly entries: readonly (IndexedEntry & { readonly kind: EntryKind })[];
  /** Index to go on after; undefined at the end. */
  readonly next: number | undefined;
  /** Entries in the ledger. */
  readonly length: number;
}

/** A stretch of the ledger, or undefined when the pad is not alive. An entry pushed twice by a retry is shown once, at its first place. */
export async function readEntries(pad: PadRef, stretch: LedgerStretch, work: PadWork): Promise<LedgerPage | undefined> {
  const state = await work.streams.load(scratchpad, pad.scratchpadId);
  if (state.status !== 'open') return undefined;
  const { order, limit, after } = stretch;
  const read = (from: number, count: number) => work.working.entries(pad, from, count);
  if (order === 'asc') {
    const from = after ?? 0;
    const page = await read(from, limit);
    if (!page) return emptied(pad, state.createdAt, work);
    const next = from + limit < page.length ? from + limit : undefined;
    return { entries: shown(page.entries), next, length: page.length };
  }
  const end = after === undefined ? await read(0, 0) : { length: after - 1 };
  if (!end) return emptied(pad, state.createdAt, work);
  const from = Math.max(0, end.length - limit);
  const page = await read(from, end.length - from);
  if (!page) return emptied(pad, state.createdAt, work);
  return { entries: shown(page.entries).reverse(), next: from > 0 ? from + 1 : undefined, length: page.length };
}

/** A living pad whose keys are not there yet gets them, and is empty. */
async function emptied(pad: PadRef, createdAt: string, work: PadWork): Promise<LedgerPage | undefined> {
  const now = await makeWorkingState(pad, createdAt, work);
  return now.status === 'open' ? { entries: [], next: undefined, length: 0 } : undefined;
}

function shown(entries: readonly IndexedEntry[]): (IndexedEntry & { readonly kind: EntryKind })[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    if (seen.has(entry.id)) return [];
    seen.add(entry.id);
    return [{ ...entry, kind: kindOf(entry.kind) }];
  });
}

/** A kind that a later version wrote reads as a note. */
const kindOf = (kind: string): EntryKind => entryKinds.find((known) => known === kind) ?? 'note';
