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
  price: 'free',
  input: z.strictObject({ userId: id('user') }),
  output: userShape,
  refuses: ['not_found'],
  async run({ userId }, { caller, db, everyTenant }) {
    const seen = caller.role === 'admin' ? everyTenant : userId === caller.userId ? db : undefined;
    return (seen && (await findUser(seen, userId))) ?? refuse('not_found');
  },
});
