import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { clearedShape, scratchpadInput } from './shapes.js';

export const clearScratchpad = operation({
  name: 'scratchpad.clear',
  kind: 'command',
  summary: 'Empty a scratchpad: content and entries.',
  http: 'POST /v1/scratchpads/{scratchpadId}/clear',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  replaces: true,
  input: scratchpadInput,
  output: clearedShape,
  refuses: ['not_found', 'conflict'],
  async run({ scratchpadId }, { tenant, ifMatch }) {
    const pad = tenant.scratchpads.pad(scratchpadId);
    const refusal = await pad.clearContent(ifMatch);
    if (refusal) return refusal;
    const count = await pad.clearEntries();
    return isRefusal(count) ? count : { scratchpadId, scope: 'all' as const, cleared: true as const, count };
  },
});
