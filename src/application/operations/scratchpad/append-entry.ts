import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { entryKinds } from '../../../domain/scratchpad/entry-kinds.js';
import { operation } from '../../operation.js';
import { appendToLedger } from '../../pad-entries.js';
import { textOfBytes } from '../../schemas.js';
import { entryShape, maxEntryBytes, scratchpadInput } from './shapes.js';

/** The list push is the append; its audit event follows before the answer (03-flows "Entries"). */
export const appendEntry = operation({
  name: 'scratchpad.entry.append',
  kind: 'command',
  summary: 'Append an entry to the ledger of a scratchpad. Any number of writers may append at once.',
  http: 'POST /v1/scratchpads/{scratchpadId}/entries',
  scope: 'scratchpads:write',
  price: 'free',
  creates: true,
  settles: 'at once',
  input: scratchpadInput.extend({
    content: textOfBytes(maxEntryBytes).min(1),
    kind: z.enum(entryKinds).default('note'),
    fields: z.strictObject({}).default({}),
  }),
  output: entryShape,
  refuses: ['not_found'],
  async run({ scratchpadId, content, kind, fields }, context) {
    const pad = { scratchpadId, ownerId: context.caller.userId };
    const appended = await appendToLedger(pad, { content, kind, fields }, context);
    if (isRefusal(appended)) return appended;
    return { ...appended, scratchpadId, createdAt: appended.at };
  },
});
