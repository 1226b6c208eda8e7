import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { remove, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

export const deleteThread = operation({
  name: 'thread.delete',
  kind: 'command',
  summary: 'Delete a thread, its messages and its scratchpad, for good.',
  http: 'DELETE /v1/threads/{threadId}',
  scope: 'threads:write',
  input: z.strictObject({ threadId: id('thread') }),
  output: z.object({ id: id('thread'), deleted: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ threadId }, { tenant: { aggregates, scratchpads } }) {
    const deleted = await aggregates.execute(thread, threadId, remove);
    if (isRefusal(deleted)) return deleted;
    if (deleted.state.status === 'deleted' && deleted.state.scratchpadId !== null) {
      await scratchpads.remove(deleted.state.scratchpadId);
    }
    return { id: threadId, deleted: true as const };
  },
});
