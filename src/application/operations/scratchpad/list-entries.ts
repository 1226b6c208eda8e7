import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { entryKinds } from '../../../domain/scratchpad/entry-kinds.js';
import { operation } from '../../operation/operation.js';
import { readMatching } from '../../scratchpad/entries/filter.js';
import type { LedgerCursor } from '../../scratchpad/entries/pages.js';
import { entryShape, scratchpadInput } from './shapes.js';

/** Oldest first, the order of the ledger; `order=desc` starts at its end. */
export const listEntries = operation({
  name: 'scratchpad.entry.list',
  kind: 'list',
  summary: 'List the entries of a scratchpad in the order of its ledger.',
  http: 'GET /v1/scratchpads/{scratchpadId}/entries',
  scope: 'scratchpads:read',
  price: 'free',
  input: scratchpadInput.extend({
    limit: z.number().int().min(1).max(100).default(20),
    cursor: z.string().max(512).optional(),
    order: z.enum(['asc', 'desc']).default('asc'),
    kind: z.enum(entryKinds).optional(),
    author: z.string().max(100).optional().meta({ description: 'Id of the key or agent that wrote.' }),
  }),
  output: entryShape,
  refuses: ['not_found'],
  async run({ scratchpadId, limit, cursor, order, kind, author }, context) {
    const filter = { scratchpadId, order, kind, author };
    const place = context.cursors.open('scratchpad.entry.list', filter, cursor);
    if (isRefusal(place)) return place;
    const pad = { scratchpadId, ownerId: context.caller.userId };
    const stretch = { limit, order, after: place === undefined ? undefined : placeIn(place) };
    const read = await readMatching(pad, stretch, { kind, author }, context);
    if (!read) return refuse('not_found');
    const { entries, lost, next } = read;
    return {
      items: entries.map((entry) => ({ ...entry, scratchpadId, createdAt: entry.at })),
      nextCursor: next ? context.cursors.seal('scratchpad.entry.list', filter, textOf(next)) : null,
      ...(lost.length > 0 && { lost: lost.map(([from, to]) => ({ from, to })) }),
    };
  },
});

const textOf = ({ generation: clears, index }: LedgerCursor): string => `${clears}.${index}`;

function placeIn(text: string): LedgerCursor {
  const [clears, index] = text.split('.');
  return { generation: Number(clears), index: Number(index) };
}
