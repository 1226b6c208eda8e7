import { z } from 'zod';
import { key, revoke } from '../../../domain/key/key.js';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

export const revokeKey = operation({
  name: 'key.revoke',
  kind: 'command',
  summary: 'Revoke one of your API keys; it stops working within 5 seconds everywhere.',
  http: 'DELETE /v1/keys/{keyId}',
  scope: 'keys:write',
  input: z.strictObject({ keyId: id('key') }),
  output: z.object({ id: id('key'), revoked: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ keyId }, { tenant: { aggregates } }) {
    const revoked = await aggregates.execute(key, keyId, revoke);
    return isRefusal(revoked) ? revoked : { id: keyId, revoked: true as const };
  },
});
