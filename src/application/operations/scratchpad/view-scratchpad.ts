import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation.js';
import { readContent } from '../../pad-content.js';
import { readEntries } from '../../pad-reading.js';
import { id } from '../../schemas.js';
import { scratchpadInput } from './shapes.js';

/** At most this many entries stand in a view; the list pages through all of them. */
const maxViewed = 1000;

/** What an agent reads before it acts: two labelled sections, entries numbered by their place in the ledger (S8). */
export const viewScratchpad = operation({
  name: 'scratchpad.view',
  kind: 'query',
  summary: 'Read content and numbered entries as one text.',
  http: 'GET /v1/scratchpads/{scratchpadId}/view',
  scope: 'scratchpads:read',
  price: 'free',
  input: scratchpadInput,
  output: z.object({
    scratchpadId: id('scratchpad'),
    text: z.string(),
    contentRevision: z.number().int(),
    entryCount: z.number().int(),
    /** Entries before the ones shown. */
    earlier: z.number().int(),
  }),
  refuses: ['not_found'],
  async run({ scratchpadId }, context) {
    const pad = { scratchpadId, ownerId: context.caller.userId };
    const content = await readContent(pad, context);
    if (isRefusal(content)) return content;
    const ledger = await readEntries(pad, { order: 'desc', limit: maxViewed, after: undefined }, context);
    if (!ledger) return refuse('not_found');
    const earlier = Math.max(0, ledger.length - maxViewed);
    const lines = ledger.entries.toReversed().map(({ index, content: words }) => `[${index}] ${words}`);
    const entries = [...(earlier > 0 ? [`(${earlier} earlier entries are not shown)`] : []), ...lines];
    const text = ['Content:', content.content || '(empty)', '', 'Entries:', entries.join('\n') || '(none)'].join('\n');
    return { scratchpadId, text, contentRevision: content.revision, entryCount: ledger.length, earlier };
  },
});
