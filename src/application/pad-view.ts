import { isRefusal, refuse, type Refusal } from '../domain/kernel/refusal.js';
import type { EntryKind } from '../domain/scratchpad/entry-kinds.js';
import { readContent } from './pad-content.js';
import { summaryOf } from './pad-kinds.js';
import { readEntries } from './pad-reading.js';
import type { PadWork } from './pads.js';
import type { PadRef } from './ports.js';

/** At most this many entries stand in a view; the list pages through all of them. */
const maxViewed = 1000;

/** What an agent reads before it acts: two labelled sections, entries numbered by their place in the ledger (S8). */
export async function viewOf(pad: PadRef, work: PadWork) {
  const content = await readContent(pad, work);
  if (isRefusal(content)) return content;
  const ledger = await readEntries(pad, { order: 'desc', limit: maxViewed, after: undefined }, work);
  if (!ledger) return refuse('not_found') satisfies Refusal;
  const shown = ledger.entries.toReversed();
  const earlier = Math.max(0, ledger.length - maxViewed);
  const lines = [...(earlier > 0 ? [`(${earlier} earlier entries are not shown)`] : []), ...shown.map(lineOf)];
  return {
    scratchpadId: pad.scratchpadId,
    text: ['Content:', content.content || '(empty)', '', 'Entries:', lines.join('\n') || '(none)'].join('\n'),
    contentRevision: content.revision,
    entryCount: ledger.length,
    earlier,
    summary: summaryOf(shown),
  };
}

const lineOf = ({ index, kind, content }: { index: number; kind: EntryKind; content: string }): string =>
  `[${index}] ${kind === 'note' ? '' : `(${kind}) `}${content}`;
