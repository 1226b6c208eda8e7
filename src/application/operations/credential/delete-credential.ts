import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { credential, remove } from '../../../domain/credential/credential.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

/** Agents that use the credential stay enrolled; they find none until another is taken in. */
export const deleteCredential = operation({
  name: 'credential.delete',
  kind: 'command',
  summary: 'Delete a provider credential of yours, all its versions, for good.',
  http: 'DELETE /v1/credentials/{credentialId}',
  scope: 'credentials:write',
  input: z.strictObject({ credentialId: id('credential') }),
  output: z.object({ id: id('credential'), deleted: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ credentialId }, { tenant: { aggregates, credentials } }) {
    const deleted = await aggregates.execute(credential, credentialId, async (state) => {
      // What was committed before this is deleted with it, also if it was not activated yet.
      const found = await credentials.find(credentialId);
      return remove(state, { credentialId, provider: found?.provider ?? '' }, found?.latest?.toString());
    });
    if (isRefusal(deleted)) return deleted;
    for (const { data } of deleted.events) {
      if ('upTo' in data) await credentials.destroy(data.provider, BigInt(data.upTo));
    }
    return { id: credentialId, deleted: true as const };
  },
});
