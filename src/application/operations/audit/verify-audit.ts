import { z } from 'zod';
import { findAuditHash, findAuditHead, listAudit } from '../../../../projections/audit.js';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { chainFault, chainStart, chainedEvent, type ChainEnd } from '../../audit/hash-chain.js';
import { operation } from '../../operation/operation.js';
import type { ReadDb } from '../../ports/read-models.js';
import { id, position } from '../../kernel/schemas.js';
import { auditScope } from './scope.js';

/** Events checked in one call; a longer chain is gone on with by `after`. */
const mostAtOnce = 20_000;
const pageSize = 500;

/** The chain as the read model has it. An export, kept elsewhere, is checked with `palimpsest audit-verify`. */
export const verifyAudit = operation({
  name: 'audit.verify',
  kind: 'query',
  summary: "Check a tenant's hash chain: nothing of the audit trail was changed, moved, taken out or cut off.",
  http: 'GET /v1/audit/verify',
  scope: 'audit:read',
  price: 'free',
  input: z.strictObject({
    tenant: auditTenant(),
    after: position().optional().meta({ description: 'Go on after this position, which was checked before.' }),
  }),
  output: z.object({
    ok: z.boolean(),
    events: z.number().int().meta({ description: 'Events checked by this call.' }),
    position: z.string().nullable().meta({ description: 'Position of the last event that fits the chain.' }),
    hash: z
      .string()
      .nullable()
      .meta({ description: 'Its hash: keep it elsewhere, to know later that nothing changed.' }),
    complete: z.boolean().meta({ description: 'False: go on with `after` and this position.' }),
    broken: z
      .object({
        fault: z.enum(['digest', 'hash', 'columns', 'order', 'end']),
        id: z.string().nullable(),
        position: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'The first event that does not fit; `end`: the last events are missing.' }),
  }),
  refuses: ['authorization_refused', 'not_found'],
  async run({ tenant, after }, context) {
    const ownerId = tenant ?? context.caller.userId;
    const scope = auditScope({ tenant: ownerId }, context);
    if (isRefusal(scope)) return scope;
    const before = after === undefined ? chainStart : await endAt(scope.db, ownerId, after);
    if (!before) return refuse('not_found');
    // First: what is appended meanwhile only comes after it.
    const head = await findAuditHead(scope.db, ownerId);
    return verified(scope.db, ownerId, before, head?.hash ?? '');
  },
});

function auditTenant() {
  return id('user').optional().meta({ description: 'Auditors and administrators: whose chain; without it, your own.' });
}

async function endAt(db: ReadDb, ownerId: string, at: string): Promise<ChainEnd | undefined> {
  const hash = await findAuditHash(db, ownerId, at);
  return hash === undefined ? undefined : { hash, position: at };
}

async function verified(db: ReadDb, ownerId: string, before: ChainEnd, head: string) {
  let end = before;
  let events = 0;
  let headSeen = end.hash === head;
  const told = (ok: boolean, complete: boolean, broken: Broken | null) => ({
    ...{ ok, events, complete, broken },
    position: end.hash === '' ? null : end.position,
    hash: end.hash === '' ? null : end.hash,
  });
  for (;;) {
    const rows = await listAudit(db, { ownerId }, { order: 'asc', limit: pageSize, after: end.position });
    for (const row of rows.slice(0, pageSize)) {
      const fault = chainFault(end, chainedEvent.parse(row));
      if (fault) return told(false, true, { fault, id: row.id, position: row.position });
      end = row;
      events += 1;
      headSeen ||= end.hash === head;
    }
    if (rows.length <= pageSize)
      return headSeen ? told(true, true, null) : told(false, true, { fault: 'end', id: null, position: null });
    if (events >= mostAtOnce) return told(true, false, null);
  }
}

interface Broken {
  readonly fault: 'digest' | 'hash' | 'columns' | 'order' | 'end';
  readonly id: string | null;
  readonly position: string | null;
}
