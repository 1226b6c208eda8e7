import { withRange, type Ranges } from '../../../domain/scratchpad/index-ranges.js';
import { readEntries, type EntryPage, type EntryPageRequest, type LedgerCursor } from './pages.js';
import type { PadContext } from '../lifecycle.js';
import type { PadRef } from '../../ports/pad-keys.js';

export interface EntryFilter {
  readonly kind?: string | undefined;
  /** Id of the key or agent that wrote. */
  readonly author?: string | undefined;
}

/** What is looked through for one page, about; a page may so be short, and `next` goes on from there. */
const stretchSize = 100;
const mostStretches = 50;
const mostBytes = 8 * 1024 * 1024;

/** A page of the entries that a filter selects, looked for along the ledger. */
export async function readMatching(
  pad: PadRef,
  stretch: EntryPageRequest,
  { kind, author }: EntryFilter,
  work: PadContext,
): Promise<EntryPage | undefined> {
  if (kind === undefined && author === undefined) return readEntries(pad, stretch, work);
  const found: EntryPage['entries'][number][] = [];
  let after = stretch.after;
  let last: LedgerCursor | undefined;
  let lost: Ranges = [];
  let bytes = 0;
  for (let stretches = 1; ; stretches += 1) {
    const page = await readEntries(pad, { ...stretch, limit: stretchSize, after }, work);
    if (!page) return undefined;
    for (const [from, to] of page.lost) lost = withRange(lost, from, to);
    for (const entry of page.entries) {
      bytes += entry.bytes;
      if ((kind !== undefined && entry.kind !== kind) || (author !== undefined && entry.author.id !== author)) continue;
      if (found.length === stretch.limit) return { ...page, lost, entries: found, next: last };
      found.push(entry);
      last = { generation: page.generation, index: entry.index };
    }
    after = page.next;
    const isEnough = stretches === mostStretches || bytes >= mostBytes;
    if (after === undefined || isEnough) return { ...page, lost, entries: found, next: after };
  }
}
