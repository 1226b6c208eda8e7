import { z } from 'zod';
import { listAudit, type AuditFilter } from '../../../../projections/audit.js';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import type { ReadDb } from '../../ports/read-models.js';
import { auditScope } from './scope.js';
import { auditFilter, exportedEventShape } from './shapes.js';

/** Every event once, oldest first, in stored form. To resume, pass the last position received, plus one, as `from`. */
export const exportAudit = operation({
  name: 'audit.export',
  kind: 'stream',
  summary: 'Export the audit trail, one event a line, with the hash chain to verify it by.',
  http: 'GET /v1/audit/export',
  scope: 'audit:read',
  uses: ['allTenants'],
  input: z.strictObject(auditFilter),
  output: exportedEventShape,
  refuses: ['authorization_refused'],
  async run(wanted, { tenant }, { allTenants }) {
    const scope = auditScope(wanted, tenant, allTenants);
    return isRefusal(scope) ? scope : exported(scope.reads, scope.filter);
  },
});

const pageSize = 500;

async function* exported(reads: ReadDb, filter: AuditFilter) {
  let after: string | undefined;
  for (;;) {
    const rows = await listAudit(reads, filter, { order: 'asc', limit: pageSize, after });
    for (const row of rows.slice(0, pageSize)) yield { ...row, revision: Number(row.revision) };
    if (rows.length <= pageSize) return;
    after = rows[pageSize - 1]?.position;
  }
}
