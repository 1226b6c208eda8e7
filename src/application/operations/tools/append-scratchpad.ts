import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { writeEntry } from '../../scratchpad/entries/claim.js';
import { textOfBytes } from '../../kernel/schemas.js';
import { maxEntryBytes } from '../scratchpad/shapes.js';
import { toolPad } from './tool-pad.js';

export const appendScratchpad = operation({
  name: 'append_scratchpad',
  kind: 'command',
  summary: 'Append a note to the shared scratchpad. Notes of others are never changed by it.',
  http: 'POST /v1/tools/append_scratchpad',
  scope: 'scratchpads:write',
  tool: { type: 'scratchpad' },
  price: 'free',
  awaitsProjection: 'at once',
  input: z.strictObject({ note: textOfBytes(maxEntryBytes).min(1) }),
  output: z.object({ index: z.number().int() }),
  refuses: ['not_found', 'precondition_failed', 'authorization_refused'],
  async run({ note }, context) {
    const pad = toolPad(context);
    if (isRefusal(pad)) return pad;
    const appended = await writeEntry(pad, { content: note, kind: 'note', fields: {} }, context);
    return isRefusal(appended) ? appended : { index: appended.index };
  },
});
