import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { entryKinds } from '../../../domain/scratchpad/entry-kinds.js';
import { operation } from '../../operation/operation.js';
import type { LedgerCursor } from '../../scratchpad/pad.js';
import { entryShape, scratchpadInput } from './shapes.js';

/** Oldest first, the order of the ledger; `order=desc` starts at its end. */
export const listEntries = operation({
  name: 'scratchpad.entry.list',
  kind: 'list',
  summary: 'List the entries of a scratchpad in the order of its ledger.',
  http: 'GET /v1/scratchpads/{scratchpadId}/entries',
  scope: 'scratchpads:read',
  input: scratchpadInput.extend({
    limit: z.number().int().min(1).max(100).default(20),
    cursor: z.string().max(512).optional(),
    order: z.enum(['asc', 'desc']).default('asc'),
    kind: z.enum(entryKinds).optional(),
    author: z.string().max(100).optional().meta({ description: 'Id of the key or agent that wrote.' }),
  }),
  output: entryShape,
  refuses: ['not_found'],
  async run({ scratchpadId, limit, cursor, order, kind, author }, { cursors, tenant }) {
    const filter = { scratchpadId, order, kind, author };
    const place = cursors.open('scratchpad.entry.list', filter, cursor);
    if (isRefusal(place)) return place;
    const after = place === undefined ? undefined : cursorIn(place);
    const read = await tenant.scratchpads.pad(scratchpadId).entries({ limit, order, after, kind, author });
    if (isRefusal(read)) return read;
    const { entries, lost, next } = read;
    return {
      items: entries.map((entry) => ({ ...entry, scratchpadId, createdAt: entry.at })),
      nextCursor: next ? cursors.seal('scratchpad.entry.list', filter, textOf(next)) : null,
      ...(lost.length > 0 && { lost: lost.map(([from, to]) => ({ from, to })) }),
    };
  },
});

const textOf = ({ generation, index }: LedgerCursor): string => `${generation}.${index}`;

function cursorIn(text: string): LedgerCursor {
  const [generation, index] = text.split('.');
  return { generation: Number(generation), index: Number(index) };
}
