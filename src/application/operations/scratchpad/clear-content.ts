import { isRefusal } from '../../../domain/kernel/refusal.js';
import { clearContent as clear } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { replaceContent } from '../../scratchpad/content.js';
import { clearedShape, scratchpadInput } from './shapes.js';

export const clearContent = operation({
  name: 'scratchpad.content.clear',
  kind: 'command',
  summary: "Empty a scratchpad's content.",
  http: 'DELETE /v1/scratchpads/{scratchpadId}/content',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  price: 'free',
  input: scratchpadInput,
  output: clearedShape,
  refuses: ['not_found', 'conflict'],
  async run({ scratchpadId }, context) {
    const pad = { scratchpadId, ownerId: context.caller.userId };
    const cleared = await replaceContent(pad, '', context, (state) => clear(state, context.author, context.ifMatch));
    return isRefusal(cleared) ? cleared : { scratchpadId, scope: 'content' as const, cleared: true as const, count: 1 };
  },
});
