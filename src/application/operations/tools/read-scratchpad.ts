import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { viewedEntries, viewOf } from '../../scratchpad/view.js';
import { toolPad } from './tool-pad.js';

export const readScratchpad = operation({
  name: 'read_scratchpad',
  kind: 'query',
  summary: `Read the shared scratchpad: the plan, and the numbered entries that everyone appended, ${viewedEntries}.`,
  http: 'GET /v1/tools/read_scratchpad',
  scope: 'scratchpads:read',
  tool: { type: 'scratchpad' },
  price: 'free',
  input: z.strictObject({}),
  output: z.object({ text: z.string() }),
  refuses: ['not_found', 'precondition_failed'],
  async run(_, context) {
    const pad = toolPad(context);
    if (isRefusal(pad)) return pad;
    const view = await viewOf(pad, context);
    return isRefusal(view) ? view : { text: view.text };
  },
});
