import { z } from 'zod';
import { findUser } from '../../../../projections/users.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { userShape } from './shapes.js';

export const getUser = operation({
  name: 'user.get',
  kind: 'query',
  summary: 'Read a user: yourself, or anyone as an administrator.',
  http: 'GET /v1/users/{userId}',
  scope: 'users:read',
  input: z.strictObject({ userId: id('user') }),
  output: userShape,
  refuses: ['not_found'],
  uses: ['allTenants'],
  async run({ userId }, { caller, tenant }, { allTenants }) {
    const seen = caller.role === 'admin' ? allTenants : userId === tenant.id ? tenant.reads : undefined;
    return (seen && (await findUser(seen, userId))) ?? refuse('not_found');
  },
});
