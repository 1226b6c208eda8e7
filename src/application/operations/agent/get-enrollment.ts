import { z } from 'zod';
import { findAgent } from '../../../../projections/agents.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { uuidId } from '../../kernel/schemas.js';
import { agentShape } from './shapes.js';

export const getEnrollment = operation({
  name: 'agent.enrollment.get',
  kind: 'query',
  summary: 'Read the enrollment of an agent of yours, or of any as an administrator.',
  http: 'GET /v1/agents/{agentId}/enrollment',
  scope: 'agents:read',
  input: z.strictObject({ agentId: uuidId() }),
  output: z.object({ result: z.literal('found'), agent: agentShape }),
  refuses: ['not_found'],
  codes: 'closed',
  uses: ['allTenants'],
  async run({ agentId: asked }, { caller, tenant }, { allTenants }) {
    const found =
      caller.role === 'admin' && allTenants
        ? await findAgent(allTenants, undefined, asked)
        : await findAgent(tenant.reads, tenant.id, asked);
    return found ? { result: 'found' as const, agent: found } : refuse('not_found');
  },
});
