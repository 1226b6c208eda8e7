import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { scratchpadInput } from './shapes.js';

const range = z.object({ from: z.number().int(), to: z.number().int() });

/** What is lost, changed or not yet recorded since the last clear. Reads all of the ledger and of its stream. */
export const verifyScratchpad = operation({
  name: 'scratchpad.verify',
  kind: 'query',
  summary: 'Compare the ledger and the content of a scratchpad, digest by digest, with its audit stream.',
  http: 'GET /v1/scratchpads/{scratchpadId}/verify',
  scope: 'scratchpads:read',
  input: scratchpadInput,
  output: z.object({
    scratchpadId: id('scratchpad'),
    ok: z.boolean().meta({ description: 'Nothing is lost, everything is audited, and all digests agree.' }),
    entries: z.number().int(),
    audited: z.number().int().meta({ description: 'Entries whose digest is the audited one.' }),
    lost: z.array(range).meta({ description: 'At most the first 100 ranges.' }),
    unaudited: z.number().int().meta({ description: 'Being written right now, or left for the auditor.' }),
    repeated: z.number().int().meta({ description: 'Indexes where a retry pushed an entry once more; not shown.' }),
    mismatches: z.number().int(),
    mismatched: z
      .array(z.object({ index: z.number().int(), audited: z.string(), found: z.string() }))
      .meta({ description: 'SHA-256 as audited and as found; at most the first 100.' }),
    contentRevision: z.number().int(),
    contentSha256Matches: z.boolean(),
  }),
  refuses: ['not_found'],
  async run({ scratchpadId }, { tenant }) {
    const verified = await tenant.scratchpads.pad(scratchpadId).verify();
    return isRefusal(verified) ? verified : { scratchpadId, ...verified };
  },
});
