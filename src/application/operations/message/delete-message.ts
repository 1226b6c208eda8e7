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
  price: 'free',
  input: z.strictObject({ threadId: id('thread'), messageId: id('message') }),
  output: z.object({ id: id('message'), deleted: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ threadId, messageId }, context) {
    const deleted = await context.streams.execute(thread, threadId, async (state) => {
      const holds = await hasMessage(threadId, messageId, context);
      if (isRefusal(holds)) return holds;
      return holds ? removeMessage(state, messageId) : refuse('not_found');
    });
    return isRefusal(deleted) ? deleted : { id: messageId, deleted: true as const };
  },
});
