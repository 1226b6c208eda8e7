import { findScratchpad } from '../../../../projections/scratchpads.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { scratchpadInput, scratchpadShape } from './shapes.js';

export const getScratchpad = operation({
  name: 'scratchpad.get',
  kind: 'query',
  summary: 'Read what is known of a scratchpad, without its words.',
  http: 'GET /v1/scratchpads/{scratchpadId}',
  scope: 'scratchpads:read',
  input: scratchpadInput,
  output: scratchpadShape,
  refuses: ['not_found'],
  run: async ({ scratchpadId }, { tenant }) =>
    (await findScratchpad(tenant.reads, tenant.id, scratchpadId)) ?? refuse('not_found'),
});
