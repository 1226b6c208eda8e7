import { z } from 'zod';
import { findThread } from '../../../../projections/threads.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { threadShape } from './shapes.js';

export const getThread = operation({
  name: 'thread.get',
  kind: 'query',
  summary: 'Read a thread.',
  http: 'GET /v1/threads/{threadId}',
  scope: 'threads:read',
  input: z.strictObject({ threadId: id('thread') }),
  output: threadShape,
  refuses: ['not_found'],
  run: async ({ threadId }, { tenant }) => (await findThread(tenant.reads, tenant.id, threadId)) ?? refuse('not_found'),
});
