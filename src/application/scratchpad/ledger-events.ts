import type { Entry } from '../ports/ledger-store.js';
import type { Streams } from '../event-sourcing/aggregates.js';
import { ledgerEventId, ledgerStream, rangeEventId } from './ledger-names.js';

type EntryFacts = Pick<Entry, 'id' | 'kind' | 'bytes' | 'sha256' | 'author'>;

/** Stores that an entry was appended. Never its words (S4). */
export function recordAppended(
  scratchpadId: string,
  { id: entryId, kind, bytes, sha256, author }: EntryFacts,
  place: { readonly index: number; readonly clears: number },
  streams: Streams,
): Promise<bigint> {
  const data = { scratchpadId, entryId, index: place.index, kind, bytes, sha256, author, clears: place.clears };
  const id = ledgerEventId(scratchpadId, entryId, place);
  return streams.record(ledgerStream(scratchpadId), [{ id, type: 'scratchpad.entry_appended', data }]);
}

/** Stores that the working state no longer has the entries from one index to another. */
export function recordLost(
  scratchpadId: string,
  lost: { readonly clears: number; readonly from: number; readonly to: number; readonly reason: string },
  streams: Streams,
): Promise<bigint> {
  const id = rangeEventId('lost', scratchpadId, lost.clears, lost.from, lost.to);
  return streams.record(ledgerStream(scratchpadId), [
    { id, type: 'scratchpad.entries_lost', data: { scratchpadId, ...lost } },
  ]);
}

/** Stores that a retry pushed an entry once more. */
export function recordDuplicate(
  scratchpadId: string,
  repeat: { readonly clears: number; readonly entryId: string; readonly index: number; readonly of: number },
  streams: Streams,
): Promise<bigint> {
  const id = rangeEventId('repeated', scratchpadId, repeat.clears, repeat.index);
  return streams.record(ledgerStream(scratchpadId), [
    { id, type: 'scratchpad.entry_repeated', data: { scratchpadId, ...repeat } },
  ]);
}
