import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { attachScratchpad, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { provisionScratchpad } from '../../scratchpad/lifecycle.js';
import { id } from '../../kernel/schemas.js';
import { scratchpadShape } from './shapes.js';

/** Filling the thread's slot is the commit: the thread's own stream admits one scratchpad (S1, S2). */
export const createScratchpad = operation({
  name: 'scratchpad.create',
  kind: 'command',
  summary: 'Open the scratchpad of a thread you own.',
  http: 'POST /v1/scratchpads',
  scope: 'scratchpads:write',
  price: 'free',
  creates: true,
  input: z.strictObject({ threadId: id('thread') }),
  output: scratchpadShape,
  refuses: ['not_found', 'conflict'],
  async run({ threadId }, context) {
    const { caller, ids, streams } = context;
    const scratchpadId = ids.make('scratchpad');
    const attached = await streams.execute(thread, threadId, (state) => attachScratchpad(state, scratchpadId));
    if (isRefusal(attached)) return attached;
    const pad = await provisionScratchpad({ scratchpadId, threadId, ownerId: caller.userId }, context);
    if (pad.status !== 'open') return refuse('not_found');
    return {
      ...{ id: scratchpadId, threadId, ownerId: caller.userId, metadata: {}, contentRevision: pad.contentRevision },
      ...{ entryCount: 0, createdAt: pad.createdAt, updatedAt: pad.createdAt },
    };
  },
});
