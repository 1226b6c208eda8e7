import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { entryKinds } from '../../../domain/scratchpad/entry-kinds.js';
import { operation } from '../../operation/operation.js';
import { textOfBytes } from '../../kernel/schemas.js';
import { entryFieldsText, maxEntryBytes } from '../../scratchpad/limits.js';
import { entryShape, scratchpadInput } from './shapes.js';

/** The list push is the append; its audit event follows before the answer (docs/flows.md#append-entry). */
export const appendEntry = operation({
  name: 'scratchpad.entry.append',
  kind: 'command',
  summary: 'Append an entry to the ledger of a scratchpad. Any number of writers may append at once.',
  http: 'POST /v1/scratchpads/{scratchpadId}/entries',
  scope: 'scratchpads:write',
  creates: true,
  awaitsProjection: false,
  input: scratchpadInput.extend({
    content: textOfBytes(maxEntryBytes).min(1),
    kind: z.enum(entryKinds).default('note'),
    fields: z
      .record(z.string(), z.unknown())
      .default({})
      .meta({ description: `What each kind takes: ${entryFieldsText}.`, examples: [{}] }),
  }),
  output: entryShape,
  refuses: ['not_found', 'conflict', 'authorization_refused', 'validation_failed'],
  async run({ scratchpadId, ...draft }, { tenant }) {
    const appended = await tenant.scratchpads.pad(scratchpadId).append(draft);
    return isRefusal(appended) ? appended : { ...appended, scratchpadId, createdAt: appended.at };
  },
});
