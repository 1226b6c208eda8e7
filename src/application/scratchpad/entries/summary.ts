import type { EntryKind } from '../../../domain/scratchpad/entry-kinds.js';

interface Summarized {
  readonly id: string;
  readonly kind: EntryKind;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Counts entries by kind, without those that a tombstone took back. Only `verified` is a finding. */
export function summaryOf(entries: readonly Summarized[]) {
  const takenBack = new Set(entries.flatMap(({ kind, fields }) => (kind === 'tombstone' ? [fields['entryId']] : [])));
  const standing = entries.filter(({ id, kind }) => kind !== 'tombstone' && !takenBack.has(id));
  const count = (kind: EntryKind) => standing.filter((entry) => entry.kind === kind).length;
  return {
    findings: count('verified'),
    unverified: count('unverified'),
    failedSources: count('failed_source'),
    claims: count('claim'),
  };
}
