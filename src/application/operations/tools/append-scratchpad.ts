import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { textOfBytes } from '../../kernel/schemas.js';
import { maxEntryBytes } from '../../scratchpad/limits.js';

export const appendScratchpad = operation({
  name: 'append_scratchpad',
  kind: 'command',
  summary: 'Append a note to the shared scratchpad. Notes of others are never changed by it.',
  http: 'POST /v1/tools/append_scratchpad',
  scope: 'scratchpads:write',
  tool: { type: 'scratchpad' },
  awaitsProjection: false,
  input: z.strictObject({ note: textOfBytes(maxEntryBytes).min(1) }),
  output: z.object({ index: z.number().int() }),
  refuses: ['not_found', 'precondition_failed', 'authorization_refused'],
  async run({ note }, { boundPad }) {
    if (isRefusal(boundPad)) return boundPad;
    const appended = await boundPad.append({ content: note, kind: 'note', fields: {} });
    return isRefusal(appended) ? appended : { index: appended.index };
  },
});
