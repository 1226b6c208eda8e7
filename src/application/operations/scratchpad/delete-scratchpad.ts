import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { detachScratchpad, thread } from '../../../domain/thread/thread.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { scratchpadInput } from './shapes.js';

/** Emptying the thread's slot is the commit; what follows can be done again. Deleting twice is one wish granted once. */
export const deleteScratchpad = operation({
  name: 'scratchpad.delete',
  kind: 'command',
  summary: 'Delete a scratchpad with every word in it, for good.',
  http: 'DELETE /v1/scratchpads/{scratchpadId}',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  input: scratchpadInput,
  output: z.object({ id: id('scratchpad'), deleted: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ scratchpadId }, { tenant }) {
    const { aggregates, scratchpads } = tenant;
    const pad = await aggregates.load(scratchpad, scratchpadId);
    if (pad.status === 'absent') return refuse('not_found');
    const detached = await aggregates.execute(thread, pad.threadId, (state) => detachScratchpad(state, scratchpadId));
    if (isRefusal(detached)) return detached;
    await scratchpads.remove(scratchpadId);
    return { id: scratchpadId, deleted: true as const };
  },
});
