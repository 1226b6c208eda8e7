import { z } from 'zod';
import { operation } from '../../operation/operation.js';
import { viewedEntriesText } from '../../scratchpad/limits.js';
import { id } from '../../kernel/schemas.js';
import { scratchpadInput } from './shapes.js';

export const viewScratchpad = operation({
  name: 'scratchpad.view',
  kind: 'query',
  summary: `Read content and numbered entries as one text: ${viewedEntriesText}.`,
  http: 'GET /v1/scratchpads/{scratchpadId}/view',
  scope: 'scratchpads:read',
  input: scratchpadInput,
  output: z.object({
    scratchpadId: id('scratchpad'),
    text: z.string(),
    contentRevision: z.number().int(),
    entryCount: z.number().int(),
    earlier: z.number().int().meta({ description: 'Entries before the ones shown.' }),
    summary: z
      .object({
        findings: z.number().int(),
        unverified: z.number().int(),
        failedSources: z.number().int(),
        claims: z.number().int(),
      })
      .meta({ description: 'Of the entries shown that no tombstone took back. Only verified ones are findings.' }),
  }),
  refuses: ['not_found'],
  run: ({ scratchpadId }, { tenant }) => tenant.scratchpads.pad(scratchpadId).view(),
});
