import type { AuditRow } from '../../../projections/audit.js';
import { isSealed, openFields } from '../event-sourcing/codec.js';
import type { PersonalDataKey } from '../ports/personal-data-keys.js';

export interface AuditReader {
  readonly id: string;
  /** Undefined: the reader was erased, or never had a key. */
  readonly personalData: { openingKey(): Promise<PersonalDataKey | undefined> };
}

/**
 * Redacts events of the audit trail for their reader. Invariant: personal text is opened for its owner only; others read
 * `[sealed]`, and after an erase everyone reads `[erased]`.
 */
export async function redactFor(reader: AuditReader, rows: readonly AuditRow[]) {
  const readerId = reader.id;
  const key = await reader.personalData.openingKey();
  return rows.map((row) => {
    const revision = Number(row.revision);
    const data =
      row.ownerId === readerId
        ? openFields({ ...row, revision, position: BigInt(row.position) }, readerId, key)
        : maskSealed(row.data);
    return { ...row, revision, data };
  });
}

const maskSealed = (data: AuditRow['data']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).map(([field, value]) => [field, isSealed(value) ? '[sealed]' : value]));
