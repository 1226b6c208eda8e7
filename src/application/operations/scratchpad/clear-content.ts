import { operation } from '../../operation/operation.js';
import { clearedShape, scratchpadInput } from './shapes.js';

export const clearContent = operation({
  name: 'scratchpad.content.clear',
  kind: 'command',
  summary: "Empty a scratchpad's content.",
  http: 'DELETE /v1/scratchpads/{scratchpadId}/content',
  scope: 'scratchpads:write',
  actsAs: 'supervisor',
  input: scratchpadInput,
  output: clearedShape,
  refuses: ['not_found', 'conflict'],
  async run({ scratchpadId }, { tenant, ifMatch }) {
    const refusal = await tenant.scratchpads.pad(scratchpadId).clearContent(ifMatch);
    return refusal ?? { scratchpadId, scope: 'content' as const, cleared: true as const, count: 1 };
  },
});
