import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { EntryKind } from '../../domain/scratchpad/entry-kinds.js';
import { readContent, type Content } from './content.js';
import { readLatest, type EntryPage } from './entries/pages.js';
import { summaryOf } from './entries/summary.js';
import { viewLimits } from './limits.js';
import type { PadContext } from './pad-context.js';

export interface PadView {
  readonly scratchpadId: string;
  readonly text: string;
  readonly contentRevision: number;
  readonly entryCount: number;
  /** Entries before the ones shown. */
  readonly earlier: number;
  readonly summary: ReturnType<typeof summaryOf>;
}

/** Reads what an agent reads before it acts: two labelled sections, entries numbered by their index in the ledger. */
export async function viewOf(pad: PadContext): Promise<PadView | Refusal<'not_found'>> {
  const [content, ledger] = await Promise.all([readContent(pad), readLatest(pad, viewLimits)]);
  if (isRefusal(content)) return content;
  if (isRefusal(ledger)) return ledger;
  const earlier = ledger.next ? ledger.next.index - 1 : 0;
  return {
    scratchpadId: pad.scratchpadId,
    text: textOf(content, ledger, earlier),
    contentRevision: content.revision,
    entryCount: ledger.count,
    earlier,
    summary: summaryOf(ledger.entries),
  };
}

function textOf({ content, lost }: Content, ledger: EntryPage, earlier: number): string {
  const numbered = [
    ...ledger.entries.map((entry) => ({ index: entry.index, line: lineOf(entry) })),
    ...ledger.lost.map(([from, to]) => ({ index: from, line: lostLine(from, to) })),
  ].sort((a, b) => a.index - b.index);
  const lines = numbered.map(({ line }) => line);
  if (earlier > 0) lines.unshift(`(${earlier} earlier entries are not shown)`);
  const head = lost ? ['Content:', '(the latest content was lost; what follows is older)'] : ['Content:'];
  return [...head, content || '(empty)', '', 'Entries:', lines.join('\n') || '(none)'].join('\n');
}

const lostLine = (from: number, to: number): string =>
  from === to ? `(entry ${from} was lost)` : `(entries ${from}-${to} were lost)`;

const lineOf = ({ index, kind, content }: { index: number; kind: EntryKind; content: string }): string =>
  `[${index}] ${kind === 'note' ? '' : `(${kind}) `}${content}`;
