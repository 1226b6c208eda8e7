import { isRefusal, refuse, type Refusal } from '../../domain/kernel/refusal.js';
import type { EntryKind } from '../../domain/scratchpad/entry-kinds.js';
import { readContent } from './content.js';
import { summaryOf } from './entries/claim.js';
import { readLatest } from './entries/pages.js';
import type { PadContext } from './lifecycle.js';
import type { PadRef } from '../ports/pad-keys.js';

/** What stands in a view at most; the list pages through all entries. */
const most = { entries: 1000, bytes: 1024 * 1024 };

/** For the descriptions of the operations that answer with a view. */
export const viewedEntries = `the last ${most.entries}, or as many of them as fit into ${most.bytes} bytes`;

/** What an agent reads before it acts: two labelled sections, entries numbered by their place in the ledger (S8). */
export async function viewOf(pad: PadRef, work: PadContext) {
  const [content, ledger] = await Promise.all([readContent(pad, work), readLatest(pad, most, work)]);
  if (isRefusal(content)) return content;
  if (!ledger) return refuse('not_found') satisfies Refusal;
  const shown = ledger.entries;
  const earlier = ledger.next ? ledger.next.index - 1 : 0;
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
