import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { cancel, research } from '../../../domain/research/research.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

export const cancelResearch = operation({
  name: 'research.cancel',
  kind: 'command',
  summary: 'Cancel a research that has not ended: nothing more is asked of its agents.',
  http: 'POST /v1/research/{researchId}/cancel',
  replaces: true, // what it would have found
  scope: 'research:write',
  input: z.strictObject({ researchId: id('research') }),
  output: z.object({ id: id('research'), cancelled: z.literal(true) }),
  refuses: ['not_found', 'conflict'],
  async run({ researchId }, { tenant: { aggregates } }) {
    const cancelled = await aggregates.execute(research, researchId, (state) => cancel(state, 'asked'));
    return isRefusal(cancelled) ? cancelled : { id: researchId, cancelled: true as const };
  },
});
