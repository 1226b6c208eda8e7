import { z } from 'zod';
import { listMessages as find } from '../../../../projections/messages.js';
import { findThread } from '../../../../projections/threads.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { id, paging } from '../../kernel/schemas.js';
import { messageShape } from './shapes.js';

export const listMessages = operation({
  name: 'message.list',
  kind: 'list',
  summary: 'List the messages of a thread.',
  http: 'GET /v1/threads/{threadId}/messages',
  scope: 'messages:read',
  input: z.strictObject({ threadId: id('thread'), ...paging }),
  output: messageShape,
  refuses: ['not_found'],
  async run({ threadId, ...page }, { tenant, cursors }) {
    if (!(await findThread(tenant.reads, tenant.id, threadId))) return refuse('not_found');
    return listPage(cursors, 'message.list', { threadId }, page, (page) =>
      find(tenant.reads, tenant.id, threadId, page),
    );
  },
});
