import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { viewedEntriesText } from '../../scratchpad/limits.js';

export const readScratchpad = operation({
  name: 'read_scratchpad',
  kind: 'query',
  summary: `Read the shared scratchpad: the plan, and the numbered entries that everyone appended, ${viewedEntriesText}.`,
  http: 'GET /v1/tools/read_scratchpad',
  scope: 'scratchpads:read',
  tool: { type: 'scratchpad' },
  input: z.strictObject({}),
  output: z.object({
    text: z.string(),
    contentRevision: z.number().int(),
    entryCount: z.number().int(),
    earlier: z.number().int().meta({ description: 'Entries before the ones shown.' }),
  }),
  refuses: ['not_found', 'precondition_failed'],
  async run(_, { boundPad }) {
    if (isRefusal(boundPad)) return boundPad;
    return boundPad.view();
  },
});
