import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { credential, remove } from '../../../domain/credential/credential.js';
import { resolveAllStaged } from '../../enrollment/staged-versions.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

/** Agents that use the credential stay enrolled; they find none until another is taken in. */
export const deleteCredential = operation({
  name: 'credential.delete',
  kind: 'command',
  summary: 'Delete a provider credential of yours, all its versions, for good.',
  http: 'DELETE /v1/credentials/{credentialId}',
  scope: 'credentials:write',
  price: 'free',
  input: z.strictObject({ credentialId: id('credential') }),
  output: z.object({ id: id('credential'), deleted: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ credentialId }, { caller, streams, vault }) {
    const deleted = await streams.execute(credential, credentialId, async (state) => {
      const known = await vault.find(caller.userId, credentialId);
      // What was committed before this is deleted with it, also if its last step was not taken yet.
      if (known) await resolveAllStaged(caller.userId, known.provider, { streams, vault });
      const found = await vault.find(caller.userId, credentialId);
      return remove(state, { credentialId, provider: found?.provider ?? '' }, found?.latest?.toString());
    });
    if (isRefusal(deleted)) return deleted;
    for (const { data } of deleted.events) {
      if ('upTo' in data) await vault.destroy(caller.userId, data.provider, BigInt(data.upTo));
    }
    return { id: credentialId, deleted: true as const };
  },
});
