import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { verifyChain } from '../../audit/verify-chain.js';
import { operation } from '../../operation/operation.js';
import { id, position } from '../../kernel/schemas.js';
import { auditScope } from './scope.js';

/** The chain as the read model has it. An export, kept elsewhere, is checked with `palimpsest audit-verify`. */
export const verifyAudit = operation({
  name: 'audit.verify',
  kind: 'query',
  summary: "Check a tenant's hash chain: nothing of the audit trail was changed, moved, taken out or cut off.",
  http: 'GET /v1/audit/verify',
  scope: 'audit:read',
  input: z.strictObject({
    tenant: id('user')
      .optional()
      .meta({ description: 'Auditors and administrators: whose chain; without it, your own.' }),
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
  uses: ['allTenants'],
  async run({ tenant: named, after }, { tenant }, { allTenants }) {
    const ownerId = named ?? tenant.id;
    const scope = auditScope({ tenant: ownerId }, tenant, allTenants);
    if (isRefusal(scope)) return scope;
    return (await verifyChain(scope.reads, ownerId, after)) ?? refuse('not_found');
  },
});
