import { z } from 'zod';
import { findMessage } from '../../../../projections/messages.js';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { removeMessage, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation.js';
import { id } from '../../schemas.js';

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
  async run({ threadId, messageId }, { caller, db, streams }) {
    const deleted = await streams.transact(thread, threadId, async (state) =>
      // Threads do not fold the ids of their messages, so that they stay small: the read model knows which exist.
      (await findMessage(db, caller.userId, threadId, messageId))
        ? removeMessage(state, messageId)
        : refuse('not_found'),
    );
    return isRefusal(deleted) ? deleted : { id: messageId, deleted: true as const };
  },
});
