import { z } from 'zod';
import { listAudit, type AuditFilter } from '../../../../projections/audit.js';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { redactFor, type AuditReader } from '../../audit/redact.js';
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
  input: z.strictObject({ ...filter, lastEventId: lastEventId() }),
  output: z.object({ id: position(), event: z.string(), data: auditEventShape }),
  refuses: ['authorization_refused'],
  uses: ['allTenants', 'allPositions'],
  async run({ lastEventId: last, ...wanted }, { tenant, awaitPosition }, { allTenants, allPositions }) {
    const scope = auditScope(wanted, tenant, allTenants);
    if (isRefusal(scope)) return scope;
    const after = last === undefined ? await tenant.live.position() : BigInt(last);
    const positions = (stopped: AbortSignal) =>
      allTenants ? allPositions(scope.filter.ownerId, stopped) : tenant.live.positions(stopped);
    return { after, open: (stopped) => followed(scope, tenant, after, positions(stopped), awaitPosition, stopped) };
  },
});

const pageSize = 100;

/** Each event after a position, once the audit trail shows it; returns why there are no more. */
async function* followed(
  { reads, filter: wanted }: { readonly reads: ReadDb; readonly filter: AuditFilter },
  reader: AuditReader,
  from: bigint,
  positions: AsyncIterable<bigint>,
  awaitPosition: (position: bigint) => Promise<boolean>,
  stopped: AbortSignal,
) {
  let after = String(from);
  for await (const latest of positions) {
    if (!(await awaitPosition(latest))) return 'unavailable';
    for (;;) {
      const rows = await listAudit(reads, wanted, { order: 'asc', limit: pageSize, after });
      for (const event of await redactFor(reader, rows.slice(0, pageSize))) {
        yield { id: event.position, event: event.type, data: event };
        after = event.position;
      }
      if (rows.length <= pageSize || stopped.aborted) break;
    }
  }
  return 'left';
}
