import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { textOfBytes } from '../../kernel/schemas.js';
import { maxContentBytes } from '../../scratchpad/limits.js';

export const updateScratchpadTool = operation({
  name: 'update_scratchpad',
  kind: 'command',
  summary: 'Replace the plan in the shared scratchpad. For the supervisor; entries stay as they are.',
  http: 'POST /v1/tools/update_scratchpad',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  tool: { type: 'scratchpad' },
  replaces: true,
  input: z.strictObject({ content: textOfBytes(maxContentBytes) }),
  output: z.object({ revision: z.number().int() }),
  refuses: ['not_found', 'precondition_failed', 'conflict'],
  async run({ content }, { boundPad, ifMatch }) {
    if (isRefusal(boundPad)) return boundPad;
    const stored = await boundPad.setContent(content, ifMatch);
    return isRefusal(stored) ? stored : { revision: stored.revision };
  },
});
