import { isRefusal } from '../../../domain/kernel/refusal.js';
import { clearContent } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { replaceContent } from '../../scratchpad/content.js';
import { clearLedger } from '../../scratchpad/entries/append.js';
import { clearedShape, scratchpadInput } from './shapes.js';

export const clearScratchpad = operation({
  name: 'scratchpad.clear',
  kind: 'command',
  summary: 'Empty a scratchpad: content and entries.',
  http: 'POST /v1/scratchpads/{scratchpadId}/clear',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  replaces: true,
  price: 'free',
  input: scratchpadInput,
  output: clearedShape,
  refuses: ['not_found', 'conflict'],
  async run({ scratchpadId }, context) {
    const pad = { scratchpadId, ownerId: context.caller.userId };
    const cleared = await replaceContent(pad, '', context, (state) =>
      clearContent(state, context.author, context.ifMatch),
    );
    if (isRefusal(cleared)) return cleared;
    const count = await clearLedger(pad, context);
    return isRefusal(count) ? count : { scratchpadId, scope: 'all' as const, cleared: true as const, count };
  },
});
