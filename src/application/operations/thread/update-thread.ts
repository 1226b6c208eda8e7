import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { thread, update } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { id, metadata, name } from '../../kernel/schemas.js';
import { textsOf } from '../../thread/texts.js';
import { threadShape } from './shapes.js';

/** What is not sent stays as it is. `metadata` is replaced as a whole. */
export const updateThread = operation({
  name: 'thread.update',
  kind: 'command',
  summary: 'Change the title or the metadata of a thread.',
  http: 'PATCH /v1/threads/{threadId}',
  scope: 'threads:write',
  input: z.strictObject({
    threadId: id('thread'),
    title: name().nullable().optional(),
    metadata: metadata().optional(),
  }),
  output: threadShape,
  refuses: ['not_found', 'conflict'],
  async run({ threadId, ...change }, { tenant }) {
    const updated = await tenant.aggregates.execute(thread, threadId, (state) => update(state, change));
    if (isRefusal(updated)) return updated;
    const { state, events } = updated;
    if (state.status !== 'open') return refuse('not_found');
    const { scratchpadId, createdAt, updatedAt } = state;
    return {
      id: threadId,
      ownerId: tenant.id,
      scratchpadId,
      createdAt,
      updatedAt: events[0]?.at ?? updatedAt,
      ...(await textsOf(state, tenant.events)),
      // Also when it is answered again and others have changed it since.
      ...(change.title !== undefined && { title: change.title }),
      ...(change.metadata && { metadata: change.metadata }),
    };
  },
});
