import { z } from 'zod';
import { listAudit, type AuditFilter } from '../../../../projections/audit.js';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { redactFor } from '../../audit/redact.js';
import type { OperationContext } from '../../operation/context.js';
import { operation } from '../../operation/operation.js';
import type { ReadDb } from '../../ports/read-models.js';
import { lastEventId, position } from '../../kernel/schemas.js';
import { auditScope } from './scope.js';
import { auditEventShape, auditFilter } from './shapes.js';

const { from: _from, to: _to, ...filter } = auditFilter;

/** Each event once the audit trail has it, with its link of the hash chain. */
export const followAudit = operation({
  name: 'audit.events',
  kind: 'events',
  summary: 'Follow the audit trail as it grows, resumable from any event.',
  http: 'GET /v1/audit/events/live',
  scope: 'audit:read',
  price: 'free',
  input: z.strictObject({ ...filter, lastEventId: lastEventId() }),
  output: z.object({ id: position(), event: z.string(), data: auditEventShape }),
  refuses: ['authorization_refused'],
  async run({ lastEventId: last, ...wanted }, context) {
    const scope = auditScope(wanted, context);
    if (isRefusal(scope)) return scope;
    const after = last === undefined ? await context.live.position() : BigInt(last);
    return { after, open: (stopped) => told(scope.db, scope.filter, after, context, stopped) };
  },
});

const pageSize = 100;

async function* told(db: ReadDb, wanted: AuditFilter, from: bigint, context: OperationContext, stopped: AbortSignal) {
  let after = String(from);
  for await (const latest of context.live.positions(wanted.ownerId, stopped)) {
    if (!(await context.shown(latest))) return 'unavailable';
    for (;;) {
      const rows = await listAudit(db, wanted, { order: 'asc', limit: pageSize, after });
      for (const event of await redactFor(context, rows.slice(0, pageSize))) {
        yield { id: event.position, event: event.type, data: event };
        after = event.position;
      }
      if (rows.length <= pageSize || stopped.aborted) break;
    }
  }
  return 'left';
}
