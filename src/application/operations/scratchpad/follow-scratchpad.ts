import { z } from 'zod';
import { refuse } from '../../../domain/kernel/refusal.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { author, id, lastEventId, metadata, position, time } from '../../kernel/schemas.js';
import { entryShape, scratchpadInput } from './shapes.js';

const scratchpadId = id('scratchpad');
const event = <Name extends string, Data extends z.ZodRawShape>(name: Name, data: Data) =>
  z.object({ id: position(), event: z.literal(name), data: z.object({ scratchpadId, ...data }) });

/** Words of entries come from the scratchpad store: those that are not there any more are null. */
export const followScratchpad = operation({
  name: 'scratchpad.events',
  kind: 'events',
  summary: 'Follow a scratchpad: entries, content and its end as they happen, resumable from any event.',
  http: 'GET /v1/scratchpads/{scratchpadId}/events',
  scope: 'scratchpads:read',
  input: scratchpadInput.extend({ lastEventId: lastEventId() }),
  output: z.discriminatedUnion('event', [
    event('scratchpad.entry_appended', { ...entryShape.shape, content: z.string().nullable() }),
    event('scratchpad.content_set', {
      revision: z.number().int(),
      bytes: z.number().int(),
      sha256: z.string(),
      author: author(),
      at: time(),
    }),
    event('scratchpad.content_cleared', { revision: z.number().int(), author: author(), at: time() }),
    event('scratchpad.entries_cleared', { count: z.number().int(), at: time() }),
    event('scratchpad.entries_lost', { from: z.number().int(), to: z.number().int(), reason: z.string(), at: time() }),
    event('scratchpad.updated', { metadata: metadata(), at: time() }),
    event('scratchpad.deleted', { threadId: id('thread'), at: time() }),
  ]),
  refuses: ['not_found'],
  async run({ scratchpadId: padId, lastEventId: last }, { tenant }) {
    if ((await tenant.aggregates.load(scratchpad, padId)).status !== 'open') return refuse('not_found');
    const pad = tenant.scratchpads.pad(padId);
    const after = last === undefined ? await tenant.live.position() : BigInt(last);
    return { after, open: (stopped) => pad.follow(after, stopped) };
  },
});
