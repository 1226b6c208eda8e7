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
  const [content, ledger] = await Promise.all([
    readContent(pad, work),
    readEntries(pad, { order: 'desc', limit: maxViewed, after: undefined }, work),
  ]);
  if (isRefusal(content)) return content;
  if (!ledger) return refuse('not_found') satisfies Refusal;
  const shown = ledger.entries.toReversed();
  const earlier = Math.max(0, ledger.length - maxViewed);
  const told = [
    ...shown.map((entry) => ({ index: entry.index, line: lineOf(entry) })),
    ...ledger.lost.map(([from, to]) => ({ index: from, line: lostLine(from, to) })),
  ].sort((a, b) => a.index - b.index);
  const lines = [
    ...(earlier > 0 ? [`(${earlier} earlier entries are not shown)`] : []),
    ...told.map(({ line }) => line),
  ];
  return {
    scratchpadId: pad.scratchpadId,
    text: [
      'Content:',
      ...(content.lost ? [lostContent] : []),
      content.content || '(empty)',
      '',
      'Entries:',
      lines.join('\n') || '(none)',
    ].join('\n'),
    contentRevision: content.revision,
    entryCount: ledger.count,
    earlier,
    summary: summaryOf(shown),
  };
}

const lostContent = '(the latest content was lost; what follows is older)';

const lostLine = (from: number, to: number): string =>
  from === to ? `(entry ${from} was lost)` : `(entries ${from}-${to} were lost)`;

const lineOf = ({ index, kind, content }: { index: number; kind: EntryKind; content: string }): string =>
  `[${index}] ${kind === 'note' ? '' : `(${kind}) `}${content}`;
