import type { OwnerStreams } from '../event-sourcing/owner-streams.js';
import { derivedUuid } from '../kernel/ids.js';
import type { Entry } from '../ports/ledger-store.js';

export const padStream = (scratchpadId: string): string => `scratchpad-${scratchpadId}`;
export const ledgerStream = (scratchpadId: string): string => `scratchpad_ledger-${scratchpadId}`;

/** A place in a ledger. The field `clears` of stored events is the generation. */
export interface LedgerPlace {
  readonly generation: number;
  readonly index: number;
}

type EntryFacts = Pick<Entry, 'id' | 'kind' | 'bytes' | 'sha256' | 'author'>;

/**
 * Stores that an entry was appended; never its words.
 * Invariant: the event has the same id whether the writer records it or the auditor does.
 * Why: the place is part of the id, because an entry that was lost and is pushed again stands at another place.
 */
export function recordAppended(
  streams: OwnerStreams,
  scratchpadId: string,
  { id: entryId, kind, bytes, sha256, author }: EntryFacts,
  { index, generation }: LedgerPlace,
): Promise<bigint> {
  const data = { scratchpadId, entryId, index, kind, bytes, sha256, author, clears: generation };
  const id = derivedUuid('ledger', scratchpadId, entryId, String(generation), String(index));
  return streams.recordFacts(ledgerStream(scratchpadId), [{ id, type: 'scratchpad.entry_appended', data }]);
}

/** Stores that the list no longer has the entries of a range. */
export function recordLost(
  streams: OwnerStreams,
  scratchpadId: string,
  range: { readonly generation: number; readonly from: number; readonly to: number; readonly reason: string },
): Promise<bigint> {
  const { generation, from, to, reason } = range;
  const id = derivedUuid('ledger lost', scratchpadId, String(generation), String(from), String(to));
  const data = { scratchpadId, clears: generation, from, to, reason };
  return streams.recordFacts(ledgerStream(scratchpadId), [{ id, type: 'scratchpad.entries_lost', data }]);
}

/** Stores that a retry pushed an entry once more. */
export function recordDuplicate(
  streams: OwnerStreams,
  scratchpadId: string,
  duplicate: LedgerPlace & { readonly entryId: string; readonly of: number },
): Promise<bigint> {
  const { generation, index, entryId, of } = duplicate;
  const id = derivedUuid('ledger repeated', scratchpadId, String(generation), String(index));
  const data = { scratchpadId, clears: generation, entryId, index, of };
  return streams.recordFacts(ledgerStream(scratchpadId), [{ id, type: 'scratchpad.entry_repeated', data }]);
}

/** Stores that a clear is finished. `generation` is the one that it began. */
export function recordCleared(
  streams: OwnerStreams,
  scratchpadId: string,
  clear: {
    readonly clearId: string;
    readonly count: number;
    readonly lastEntryId: string | null;
    readonly generation: number;
  },
): Promise<bigint> {
  const { clearId, count, lastEntryId, generation } = clear;
  const data = { scratchpadId, clearId, count, lastEntryId, clears: generation };
  const id = derivedUuid('clear', clearId);
  return streams.recordFacts(ledgerStream(scratchpadId), [{ id, type: 'scratchpad.entries_cleared', data }]);
}
