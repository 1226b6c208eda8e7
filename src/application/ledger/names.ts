import { derivedUuid } from '../ids.js';

export const ledgerOf = (scratchpadId: string): string => `scratchpad_ledger-${scratchpadId}`;

/** An audit event has the same id whoever writes it: the writer itself, or an auditor that completes its work. */
export const ledgerEventId = (scratchpadId: string, entryId: string): string =>
  derivedUuid('ledger', scratchpadId, entryId);

/** The id of an event that names places in a ledger: found by two, it is stored once. */
export const placeEventId = (what: 'lost' | 'repeated', scratchpadId: string, ...place: readonly number[]): string =>
  derivedUuid(`ledger ${what}`, scratchpadId, ...place.map(String));

export const clearedEventId = (clearId: string): string => derivedUuid('clear', clearId);
