import type { PadRole } from '../kernel/roles.js';

/** What an entry of the ledger can be (S6). */
export const entryKinds = [
  'note',
  'strategy',
  'claim',
  'verified',
  'unverified',
  'failed_source',
  'tombstone',
  'directive',
] as const;

export type EntryKind = (typeof entryKinds)[number];

const writers: Readonly<Record<EntryKind, readonly PadRole[]>> = {
  note: ['supervisor', 'worker'],
  strategy: ['supervisor'],
  claim: ['worker'],
  verified: ['worker'],
  unverified: ['worker'],
  failed_source: ['worker'],
  tombstone: ['supervisor', 'worker'],
  directive: ['supervisor'],
};

/** May this kind be written in this role? Without a role: the owner, who has both. */
export const mayWrite = (role: PadRole | undefined, kind: EntryKind): boolean =>
  role === undefined || writers[kind].includes(role);
