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
  input: z.strictObject({ userId: id('user') }),
  output: z.object({ id: id('user'), deleted: z.literal(true) }),
  refuses: ['not_found'],
  uses: ['tenantOf'],
  async run({ userId }, { caller, awaitPosition }, { tenantOf }) {
    if (userId !== caller.userId && caller.role !== 'admin') return refuse('not_found');
    const owner = tenantOf(userId);
    if ((await owner.aggregates.load(users.user, userId)).status === 'absent') return refuse('not_found');

    for (const keyId of await keyIdsOf(owner.reads, userId))
      await owner.aggregates.execute(keys.key, keyId, keys.revoke);
    const erased = await owner.aggregates.execute(users.user, userId, users.erase);
    if (isRefusal(erased)) return erased;
    await eraseOwner(owner, erased.position, awaitPosition);
    return { id: userId, deleted: true as const };
  },
});
