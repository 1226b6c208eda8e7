import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { setContent } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { replaceContent, sizeOf } from '../../scratchpad/content.js';
import { textOfBytes } from '../../kernel/schemas.js';
import { maxContentBytes } from '../scratchpad/shapes.js';
import { toolPad } from './tool-pad.js';

export const updateScratchpadTool = operation({
  name: 'update_scratchpad',
  kind: 'command',
  summary: 'Replace the plan in the shared scratchpad. For the supervisor; entries stay as they are.',
  http: 'POST /v1/tools/update_scratchpad',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  tool: { type: 'scratchpad' },
  replaces: true,
  price: 'free',
  input: z.strictObject({ content: textOfBytes(maxContentBytes) }),
  output: z.object({ revision: z.number().int() }),
  refuses: ['not_found', 'precondition_failed', 'conflict'],
  async run({ content }, context) {
    const pad = toolPad(context);
    if (isRefusal(pad)) return pad;
    const size = sizeOf(content, context.author);
    const stored = await replaceContent(pad, content, context, (state) => setContent(state, size, context.ifMatch));
    return isRefusal(stored) ? stored : { revision: stored.revision };
  },
});
