/** What an entry of the ledger can be. */
export const entryKinds = ['note'] as const;
export type EntryKind = (typeof entryKinds)[number];
