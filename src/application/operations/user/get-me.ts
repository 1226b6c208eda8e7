import { z } from 'zod';
import { findUser } from '../../../../projections/users.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id, uuidId } from '../../kernel/schemas.js';
import { userShape } from './shapes.js';

export const getMe = operation({
  name: 'me.get',
  kind: 'query',
  summary: 'Who this key belongs to and what it may do.',
  http: 'GET /v1/me',
  scope: 'users:read',
  input: z.strictObject({}),
  output: z.object({
    user: userShape,
    workspace: z.object({ id: id('workspace') }),
    key: z.object({ id: id('key'), scopes: z.array(z.string()), agentId: uuidId().nullable() }),
  }),
  refuses: ['not_found'],
  async run(_, { caller, tenant }) {
    const user = await findUser(tenant.reads, tenant.id);
    if (!user) return refuse('not_found');
    return {
      user,
      workspace: { id: caller.workspaceId },
      key: { id: caller.keyId, scopes: [...caller.scopes].sort(), agentId: caller.agentId ?? null },
    };
  },
});
