import type { AuditFilter } from '../../../../projections/audit.js';
import { refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import type { OperationContext } from '../../operation/context.js';
import type { ReadDb } from '../../ports/read-models.js';

/** Whose events a caller may read: everyone's for auditors and administrators, else their own. */
export function auditScope(
  { tenant, ...filter }: Omit<AuditFilter, 'ownerId'> & { readonly tenant?: string | undefined },
  { caller, db, everyTenant }: OperationContext,
): { readonly db: ReadDb; readonly filter: AuditFilter } | Refusal<'authorization_refused'> {
  if (everyTenant) return { db: everyTenant, filter: { ...filter, ownerId: tenant } };
  if (tenant !== undefined && tenant !== caller.userId) return refuse('authorization_refused');
  return { db, filter: { ...filter, ownerId: caller.userId } };
}
