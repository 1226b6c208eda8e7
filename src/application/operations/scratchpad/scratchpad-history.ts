import { z } from 'zod';
import { listAuditOf, type AuditRow } from '../../../../projections/audit.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { author, id, paging, time } from '../../kernel/schemas.js';
import { scratchpadInput } from './shapes.js';

/** Sizes and digests, never words: what a text was can be proven with it, not read. Newest first. */
export const scratchpadHistory = operation({
  name: 'scratchpad.history',
  kind: 'list',
  summary: 'List what was done in a scratchpad: who, what, when, and the digest of each text.',
  http: 'GET /v1/scratchpads/{scratchpadId}/history',
  scope: 'scratchpads:read',
  input: scratchpadInput.extend(paging),
  output: z.object({
    position: z.string(),
    type: z.string(),
    author: author().meta({ description: 'The credential that wrote, else who acted.' }),
    at: time(),
    correlationId: z.string(),
    entryId: id('entry').optional(),
    kind: z.string().optional(),
    index: z.number().int().optional(),
    revision: z.number().int().optional(),
    bytes: z.number().int().optional(),
    sha256: z.string().optional(),
    count: z.number().int().optional().meta({ description: 'Entries that were cleared.' }),
    from: z.number().int().optional().meta({ description: 'First index that was lost.' }),
    to: z.number().int().optional().meta({ description: 'Last index that was lost.' }),
  }),
  refuses: ['not_found'],
  async run({ scratchpadId, ...wanted }, { cursors, tenant }) {
    const state = await tenant.aggregates.load(scratchpad, scratchpadId);
    if (state.status !== 'open') return refuse('not_found');
    const { streams } = tenant.scratchpads.pad(scratchpadId);
    const found = await listPage(cursors, 'scratchpad.history', { scratchpadId }, wanted, (page) =>
      listAuditOf(tenant.reads, tenant.id, streams, page),
    );
    return 'items' in found ? { ...found, items: found.items.map(done) } : found;
  },
});

/** The members of an event's data that say what was done; none of them is personal text. */
const said = z.object({
  author: author().optional(),
  entryId: z.string().optional(),
  kind: z.string().optional(),
  index: z.number().optional(),
  revision: z.number().optional(),
  bytes: z.number().optional(),
  sha256: z.string().optional(),
  count: z.number().optional(),
  from: z.number().optional(),
  to: z.number().optional(),
});

function done({ position, type, actor, at, correlationId, data }: AuditRow) {
  const { author: writer, ...what } = said.parse(data);
  const by = writer ?? { type: String(actor['type']), id: String(actor['id']) };
  return { position, type, author: by, at, correlationId, ...what };
}
