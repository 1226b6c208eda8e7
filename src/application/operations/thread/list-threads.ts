import { z } from 'zod';
import { listThreads as find } from '../../../../projections/threads.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { paging } from '../../kernel/schemas.js';
import { threadShape } from './shapes.js';

export const listThreads = operation({
  name: 'thread.list',
  kind: 'list',
  summary: 'List your threads.',
  http: 'GET /v1/threads',
  scope: 'threads:read',
  input: z.strictObject(paging),
  output: threadShape,
  refuses: [],
  run: (input, { tenant, cursors }) =>
    listPage(cursors, 'thread.list', {}, input, (page) => find(tenant.reads, tenant.id, page)),
});
