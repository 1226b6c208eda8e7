import { z } from 'zod';
import { listAudit as find } from '../../../../projections/audit.js';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { redactFor } from '../../audit/redact.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { paging } from '../../kernel/schemas.js';
import { auditEventShape, auditFilter } from './shapes.js';
import { auditScope } from './scope.js';

/** Events as they were stored, not upcast. */
export const listAudit = operation({
  name: 'audit.list',
  kind: 'list',
  summary: 'Read the audit trail: what was done, by whom, when, in the order of the log.',
  http: 'GET /v1/audit/events',
  scope: 'audit:read',
  input: z.strictObject({ ...auditFilter, ...paging }),
  output: auditEventShape,
  refuses: ['authorization_refused'],
  uses: ['allTenants'],
  async run({ limit, cursor, order, ...wanted }, { cursors, tenant }, { allTenants }) {
    const scope = auditScope(wanted, tenant, allTenants);
    if (isRefusal(scope)) return scope;
    const found = await listPage(cursors, 'audit.list', { ...scope.filter }, { limit, cursor, order }, (page) =>
      find(scope.reads, scope.filter, page),
    );
    return isRefusal(found) ? found : { ...found, items: await redactFor(tenant, found.items) };
  },
});
