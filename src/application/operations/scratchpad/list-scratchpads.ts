import { z } from 'zod';
import { listScratchpads as find } from '../../../../projections/scratchpads.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { paging } from '../../kernel/schemas.js';
import { scratchpadShape } from './shapes.js';

export const listScratchpads = operation({
  name: 'scratchpad.list',
  kind: 'list',
  summary: 'List your scratchpads.',
  http: 'GET /v1/scratchpads',
  scope: 'scratchpads:read',
  input: z.strictObject(paging),
  output: scratchpadShape,
  refuses: [],
  run: (input, { tenant, cursors }) =>
    listPage(cursors, 'scratchpad.list', {}, input, (page) => find(tenant.reads, tenant.id, page)),
});
