import { z } from 'zod';
import { keyIdsOf } from '../../../../projections/keys.js';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import * as keys from '../../../domain/key/key.js';
import * as users from '../../../domain/user/user.js';
import { eraseOwner } from '../../erasure/erase-owner.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

/** Keys first, so that nothing new is begun; then the commit; then everything owned, which a reaction repeats until it is done. */
export const eraseUser = operation({
  name: 'user.erase',
  kind: 'command',
  summary: 'Erase a user and everything they own, for good: yourself, or anyone as an administrator.',
  http: 'DELETE /v1/users/{userId}',
  scope: 'users:write',
  price: 'free',
  input: z.strictObject({ userId: id('user') }),
  output: z.object({ id: id('user'), deleted: z.literal(true) }),
  refuses: ['not_found'],
  async run({ userId }, context) {
    const { caller, streams, everyTenant, db } = context;
    if (userId !== caller.userId && caller.role !== 'admin') return refuse('not_found');
    const theirs = streams.as(userId);
    if ((await theirs.load(users.user, userId)).status === 'absent') return refuse('not_found');

    const seen = everyTenant ?? db;
    for (const keyId of await keyIdsOf(seen, userId)) await theirs.execute(keys.key, keyId, keys.revoke);
    const erased = await theirs.execute(users.user, userId, users.erase);
    if (isRefusal(erased)) return erased;
    await eraseOwner(userId, erased.position, { ...context, streams: theirs, db: seen });
    return { id: userId, deleted: true as const };
  },
});
