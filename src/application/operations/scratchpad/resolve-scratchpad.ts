import { z } from 'zod';
import { findScratchpadOfThread } from '../../../../projections/scratchpads.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { scratchpadShape } from './shapes.js';

export const resolveScratchpad = operation({
  name: 'scratchpad.resolve',
  kind: 'query',
  summary: 'Find the scratchpad of a thread.',
  http: 'GET /v1/threads/{threadId}/scratchpad',
  scope: 'scratchpads:read',
  input: z.strictObject({ threadId: id('thread') }),
  output: scratchpadShape,
  refuses: ['not_found'],
  run: async ({ threadId }, { tenant }) =>
    (await findScratchpadOfThread(tenant.reads, tenant.id, threadId)) ?? refuse('not_found'),
});
