import { z } from 'zod';
import { callsOf, findResearch } from '../../../../projections/research.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { callShape, researchShape } from './shapes.js';

export const getResearch = operation({
  name: 'research.get',
  kind: 'query',
  summary: 'Read how far a research is: its answer, and the one result of each call that was delegated.',
  http: 'GET /v1/research/{researchId}',
  scope: 'research:read',
  input: z.strictObject({ researchId: id('research') }),
  output: researchShape.extend({ calls: z.array(callShape) }),
  refuses: ['not_found'],
  async run({ researchId }, { tenant }) {
    const found = await findResearch(tenant.reads, tenant.id, researchId);
    return found ? { ...found, calls: [...(await callsOf(tenant.reads, tenant.id, researchId))] } : refuse('not_found');
  },
});
