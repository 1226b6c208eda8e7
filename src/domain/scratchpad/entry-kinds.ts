import type { PadRole } from '../kernel/roles.js';

/** Kinds of ledger entries. */
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

/** Answers whether a role may write this kind. Without a role: the owner, who has both. */
export const mayWrite = (role: PadRole | undefined, kind: EntryKind): boolean =>
  role === undefined || writers[kind].includes(role);
