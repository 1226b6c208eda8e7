import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { removeMessage, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { hasMessage } from '../../thread/messages.js';

export const deleteMessage = operation({
  name: 'message.delete',
  kind: 'command',
  summary: 'Delete a message from a thread.',
  http: 'DELETE /v1/threads/{threadId}/messages/{messageId}',
  scope: 'messages:write',
  input: z.strictObject({ threadId: id('thread'), messageId: id('message') }),
  output: z.object({ id: id('message'), deleted: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ threadId, messageId }, { tenant, awaitPosition }) {
    const deleted = await tenant.aggregates.execute(thread, threadId, async (state) => {
      const found = await hasMessage(tenant, threadId, messageId, awaitPosition);
      if (isRefusal(found)) return found;
      return found ? removeMessage(state, messageId) : refuse('not_found');
    });
    return isRefusal(deleted) ? deleted : { id: messageId, deleted: true as const };
  },
});
