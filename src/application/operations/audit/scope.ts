import type { AuditFilter } from '../../../../projections/audit.js';
import { refuse, type Refusal } from '../../../domain/kernel/refusal.js';
import type { ReadDb } from '../../ports/read-models.js';
import type { Tenant } from '../../tenancy/tenant.js';

/** The events that a caller may read: every tenant's for auditors and administrators, else their own. */
export function auditScope(
  { tenant: named, ...filter }: Omit<AuditFilter, 'ownerId'> & { readonly tenant?: string | undefined },
  tenant: Tenant,
  allTenants: ReadDb | undefined,
): { readonly reads: ReadDb; readonly filter: AuditFilter } | Refusal<'authorization_refused'> {
  if (allTenants) return { reads: allTenants, filter: { ...filter, ownerId: named } };
  if (named !== undefined && named !== tenant.id) return refuse('authorization_refused');
  return { reads: tenant.reads, filter: { ...filter, ownerId: tenant.id } };
}
