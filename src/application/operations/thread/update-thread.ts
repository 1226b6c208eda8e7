import { z } from 'zod';
import { findThread } from '../../../../projections/threads.js';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { thread, update } from '../../../domain/thread/thread.js';
import { operation } from '../../operation.js';
import { id, metadata, name } from '../../schemas.js';
import { threadShape } from './shapes.js';

/** What is not sent stays as it is. `metadata` is replaced as a whole. */
export const updateThread = operation({
  name: 'thread.update',
  kind: 'command',
  summary: 'Change the title or the metadata of a thread.',
  http: 'PATCH /v1/threads/{threadId}',
  scope: 'threads:write',
  price: 'free',
  input: z.strictObject({
    threadId: id('thread'),
    title: name().nullable().optional(),
    metadata: metadata().optional(),
  }),
  output: threadShape,
  refuses: ['not_found', 'conflict'],
  async run(input, { caller, db, streams }) {
    const before = await findThread(db, caller.userId, input.threadId);
    if (!before) return refuse('not_found');
    const change = {
      title: input.title === undefined ? before.title : input.title,
      metadata: input.metadata ?? before.metadata,
    };
    const updated = await streams.transact(thread, before.id, (state) => update(state, change));
    if (isRefusal(updated)) return updated;
    return { ...before, ...change, updatedAt: updated.events[0]?.at ?? before.updatedAt };
  },
});
