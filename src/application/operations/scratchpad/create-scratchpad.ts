import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { attachScratchpad, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { scratchpadShape } from './shapes.js';

/** Filling the thread's slot is the commit: the thread's own stream admits one scratchpad. */
export const createScratchpad = operation({
  name: 'scratchpad.create',
  kind: 'command',
  summary: 'Open the scratchpad of a thread you own.',
  http: 'POST /v1/scratchpads',
  scope: 'scratchpads:write',
  creates: true,
  input: z.strictObject({ threadId: id('thread') }),
  output: scratchpadShape,
  refuses: ['not_found', 'conflict'],
  async run({ threadId }, { command, tenant }) {
    const scratchpadId = command.newId('scratchpad');
    const attached = await tenant.aggregates.execute(thread, threadId, (state) =>
      attachScratchpad(state, scratchpadId),
    );
    if (isRefusal(attached)) return attached;
    const pad = await tenant.scratchpads.provision({ scratchpadId, threadId });
    if (isRefusal(pad)) return pad;
    return {
      id: scratchpadId,
      threadId,
      ownerId: tenant.id,
      metadata: {},
      contentRevision: pad.contentRevision,
      entryCount: 0,
      createdAt: pad.createdAt,
      updatedAt: pad.createdAt,
    };
  },
});
