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
  price: 'free',
  input: z.strictObject({ ...auditFilter, ...paging }),
  output: auditEventShape,
  refuses: ['authorization_refused'],
  async run({ limit, cursor, order, ...wanted }, context) {
    const scope = auditScope(wanted, context);
    if (isRefusal(scope)) return scope;
    const page = await listPage(
      context.cursors,
      'audit.list',
      { ...scope.filter },
      { limit, cursor, order },
      (stretch) => find(scope.db, scope.filter, stretch),
    );
    return isRefusal(page) ? page : { ...page, items: await redactFor(context, page.items) };
  },
});
