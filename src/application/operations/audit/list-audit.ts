import { z } from 'zod';
import { listAudit as find, type AuditRow } from '../../../../projections/audit.js';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { isSealed, openFields } from '../../codec.js';
import { pageOf } from '../../lists.js';
import { operation } from '../../operation.js';
import type { SubjectKey } from '../../ports.js';
import { paging } from '../../schemas.js';
import { auditEventShape, auditFilter } from './shapes.js';
import { auditScope } from './scope.js';

/** Events as they were stored, not upcast. Personal text is opened for its owner only: others read `[sealed]`, after an erase `[erased]`. */
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
    const { userId } = context.caller;
    const page = await pageOf(context.cursors, 'audit.list', { ...scope.filter }, { limit, cursor, order }, (stretch) =>
      find(scope.db, scope.filter, stretch),
    );
    if (isRefusal(page)) return page;
    const key = (await context.subjects.toOpen(new Set([userId]))).get(userId);
    return {
      ...page,
      items: page.items.map((row) => ({ ...row, revision: Number(row.revision), data: shown(row, userId, key) })),
    };
  },
});

function shown(row: AuditRow, readerId: string, key: SubjectKey | undefined): Record<string, unknown> {
  if (row.ownerId === readerId)
    return openFields({ ...row, revision: Number(row.revision), position: BigInt(row.position) }, readerId, key);
  return Object.fromEntries(
    Object.entries(row.data).map(([field, value]) => [field, isSealed(value) ? '[sealed]' : value]),
  );
}
