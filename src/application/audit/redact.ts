import type { AuditRow } from '../../../projections/audit.js';
import { isSealed, openFields } from '../event-sourcing/codec.js';
import type { OperationContext } from '../operation/context.js';

/**
 * Events of the audit trail as their reader sees them. Personal text is opened for its owner only: others read
 * `[sealed]`, after an erase `[erased]`.
 */
export async function redactFor(
  { caller, subjects }: Pick<OperationContext, 'caller' | 'subjects'>,
  rows: readonly AuditRow[],
) {
  const { userId } = caller;
  const key = (await subjects.openingKeys(new Set([userId]))).get(userId);
  return rows.map((row) => {
    const revision = Number(row.revision);
    const data =
      row.ownerId === userId
        ? openFields({ ...row, revision, position: BigInt(row.position) }, userId, key)
        : maskSealed(row.data);
    return { ...row, revision, data };
  });
}

const maskSealed = (data: AuditRow['data']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).map(([field, value]) => [field, isSealed(value) ? '[sealed]' : value]));
