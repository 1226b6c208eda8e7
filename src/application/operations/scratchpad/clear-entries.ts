import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { clearedShape, scratchpadInput } from './shapes.js';

export const clearEntries = operation({
  name: 'scratchpad.entry.clear',
  kind: 'command',
  summary: 'Remove every entry of a scratchpad; its content stays.',
  http: 'DELETE /v1/scratchpads/{scratchpadId}/entries',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  input: scratchpadInput,
  output: clearedShape,
  refuses: ['not_found'],
  async run({ scratchpadId }, { tenant }) {
    const count = await tenant.scratchpads.pad(scratchpadId).clearEntries();
    return isRefusal(count) ? count : { scratchpadId, scope: 'entries' as const, cleared: true as const, count };
  },
});
