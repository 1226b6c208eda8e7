import { derivedUuid } from '../kernel/ids.js';

export const ledgerStream = (scratchpadId: string): string => `scratchpad_ledger-${scratchpadId}`;

/**
 * An audit event has the same id whoever writes it: the writer itself, or an auditor that completes its work. The place is
 * part of it, because what was lost and is pushed again by a retry stands at another one, and has to be told of again.
 */
export const ledgerEventId = (
  scratchpadId: string,
  entryId: string,
  { clears, index }: { readonly clears: number; readonly index: number },
): string => derivedUuid('ledger', scratchpadId, entryId, String(clears), String(index));

/** The id of an event that names places in a ledger: found by two, it is stored once. */
export const rangeEventId = (what: 'lost' | 'repeated', scratchpadId: string, ...place: readonly number[]): string =>
  derivedUuid(`ledger ${what}`, scratchpadId, ...place.map(String));

export const clearedEventId = (clearId: string): string => derivedUuid('clear', clearId);
