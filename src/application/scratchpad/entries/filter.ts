import { isRefusal, type Refusal } from '../../../domain/kernel/refusal.js';
import { withRange, type Ranges } from '../../../domain/scratchpad/index-ranges.js';
import type { PadContext } from '../pad-context.js';
import { readEntries, type EntryPage, type LedgerCursor, type PageOfEntries } from './pages.js';

export interface EntryPageRequest extends PageOfEntries {
  readonly kind?: string | undefined;
  /** Id of the key or agent that wrote. */
  readonly author?: string | undefined;
}

/** What is searched for one page, about. A page may therefore be short; `next` continues from there. */
const searchSize = 100;
const mostSearches = 50;
const mostBytes = 8 * 1024 * 1024;

/** Reads a page of the entries that have a kind and an author, searched along the ledger. */
export async function readMatching(
  pad: PadContext,
  { kind, author, order, limit, after: begin }: EntryPageRequest,
): Promise<EntryPage | Refusal<'not_found'>> {
  if (kind === undefined && author === undefined) return readEntries(pad, { order, limit, after: begin });
  const found: EntryPage['entries'][number][] = [];
  let after = begin;
  let last: LedgerCursor | undefined;
  let lost: Ranges = [];
  let bytes = 0;
  for (let searches = 1; ; searches += 1) {
    const page = await readEntries(pad, { order, limit: searchSize, after });
    if (isRefusal(page)) return page;
    for (const [from, to] of page.lost) lost = withRange(lost, from, to);
    for (const entry of page.entries) {
      bytes += entry.bytes;
      if ((kind !== undefined && entry.kind !== kind) || (author !== undefined && entry.author.id !== author)) continue;
      if (found.length === limit) return { ...page, lost, entries: found, next: last };
      found.push(entry);
      last = { generation: page.generation, index: entry.index };
    }
    after = page.next;
    const isEnough = searches === mostSearches || bytes >= mostBytes;
    if (after === undefined || isEnough) return { ...page, lost, entries: found, next: after };
  }
}
