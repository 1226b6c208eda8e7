import { refuse, type Refusal } from '../domain/kernel/refusal.js';
import type { EntryKind } from '../domain/scratchpad/entry-kinds.js';
import { scratchpad } from '../domain/scratchpad/scratchpad.js';
import { sha256 } from './canonical.js';
import type { OperationContext } from './context.js';
import { derivedUuid } from './ids.js';
import { makeWorkingState } from './pads.js';
import type { Entry, IndexedEntry, PadRef } from './ports.js';

export interface Draft {
  readonly content: string;
  readonly kind: EntryKind;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Writer = Pick<OperationContext, 'ids' | 'author' | 'correlationId' | 'streams' | 'working' | 'now'>;

export const ledgerOf = (scratchpadId: string): string => `scratchpad_ledger-${scratchpadId}`;

/** An audit event has the same id whoever writes it: the writer itself, or an auditor that completes its work. */
export const ledgerEventId = (scratchpadId: string, entryId: string): string =>
  derivedUuid('ledger', scratchpadId, entryId);

export async function appendToLedger(
  pad: PadRef,
  draft: Draft,
  writer: Writer,
): Promise<(IndexedEntry & { readonly kind: EntryKind }) | Refusal<'not_found'>> {
  const entry = {
    id: writer.ids.make('entry'),
    ...draft,
    author: writer.author,
    bytes: Buffer.byteLength(draft.content),
    sha256: sha256(draft.content),
    at: writer.now().toISOString(),
    correlationId: writer.correlationId,
  };
  const index = await pushed(pad, entry, writer);
  if (index === undefined) return refuse('not_found');
  const { id: entryId, kind, bytes, author } = entry;
  const data = { scratchpadId: pad.scratchpadId, entryId, index, kind, bytes, sha256: entry.sha256, author };
  const id = ledgerEventId(pad.scratchpadId, entryId);
  await writer.streams.record(ledgerOf(pad.scratchpadId), [{ id, type: 'scratchpad.entry_appended', data }]);
  return { ...entry, index };
}

/** One push. When the list is not there it is either not made yet or gone: the stream knows, and a living pad gets its keys. */
async function pushed(pad: PadRef, entry: Entry, { streams, working }: Writer): Promise<number | undefined> {
  const index = await working.append(pad, entry);
  if (index !== undefined) return index;
  const state = await streams.load(scratchpad, pad.scratchpadId);
  if (state.status !== 'open') return undefined;
  const now = await makeWorkingState(pad, state.createdAt, { streams, working });
  return now.status === 'open' ? working.append(pad, entry) : undefined;
}

/** Empties the ledger; the removed entries stay aside until the event that tells of them is stored. */
export async function clearLedger(
  pad: PadRef,
  { ids, streams, working }: Pick<OperationContext, 'ids' | 'streams' | 'working'>,
): Promise<number | Refusal<'not_found'>> {
  const state = await streams.load(scratchpad, pad.scratchpadId);
  if (state.status !== 'open') return refuse('not_found');
  const clearId = ids.uuid('clear');
  const cleared = await working.clearEntries(pad, clearId);
  if (!cleared)
    return (await makeWorkingState(pad, state.createdAt, { streams, working })).status === 'open'
      ? 0
      : refuse('not_found');
  const data = {
    scratchpadId: pad.scratchpadId,
    clearId,
    count: cleared.count,
    lastEntryId: cleared.lastEntryId ?? null,
  };
  await streams.record(ledgerOf(pad.scratchpadId), [
    { id: derivedUuid('clear', clearId), type: 'scratchpad.entries_cleared', data },
  ]);
  await working.forgetCleared(pad, clearId);
  return cleared.count;
}
