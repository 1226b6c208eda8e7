import { z } from 'zod';
import { refuse } from '../../../domain/kernel/refusal.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { operation } from '../../operation/operation.js';
import { padEvents } from '../../scratchpad/live-events.js';
import { author, id, lastEventId, metadata, position, time } from '../../kernel/schemas.js';
import { entryShape, scratchpadInput } from './shapes.js';

const scratchpadId = id('scratchpad');
const told = <Name extends string, Data extends z.ZodRawShape>(event: Name, data: Data) =>
  z.object({ id: position(), event: z.literal(event), data: z.object({ scratchpadId, ...data }) });

/** Words of entries come from the working state: those that are not there any more are null. */
export const followScratchpad = operation({
  name: 'scratchpad.events',
  kind: 'events',
  summary: 'Follow a scratchpad: entries, content and its end as they happen, resumable from any event.',
  http: 'GET /v1/scratchpads/{scratchpadId}/events',
  scope: 'scratchpads:read',
  price: 'free',
  input: scratchpadInput.extend({ lastEventId: lastEventId() }),
  output: z.discriminatedUnion('event', [
    told('scratchpad.entry_appended', { ...entryShape.shape, content: z.string().nullable() }),
    told('scratchpad.content_set', {
      ...{ revision: z.number().int(), bytes: z.number().int(), sha256: z.string() },
      ...{ author: author(), at: time() },
    }),
    told('scratchpad.content_cleared', { revision: z.number().int(), author: author(), at: time() }),
    told('scratchpad.entries_cleared', { count: z.number().int(), at: time() }),
    told('scratchpad.entries_lost', {
      ...{ from: z.number().int(), to: z.number().int(), reason: z.string(), at: time() },
    }),
    told('scratchpad.updated', { metadata: metadata(), at: time() }),
    told('scratchpad.deleted', { threadId: id('thread'), at: time() }),
  ]),
  refuses: ['not_found'],
  async run({ scratchpadId: padId, lastEventId: last }, context) {
    const pad = { scratchpadId: padId, ownerId: context.caller.userId };
    const state = await context.streams.load(scratchpad, padId);
    if (state.status !== 'open') return refuse('not_found');
    const after = last === undefined ? await context.live.position() : BigInt(last);
    return { after, open: (stopped) => padEvents(pad, after, context, stopped) };
  },
});
