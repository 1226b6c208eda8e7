import { z } from 'zod';
import { listResearch as find } from '../../../../projections/research.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { paging } from '../../kernel/schemas.js';
import { researchShape } from './shapes.js';

export const listResearch = operation({
  name: 'research.list',
  kind: 'list',
  summary: 'List your research.',
  http: 'GET /v1/research',
  scope: 'research:read',
  input: z.strictObject(paging),
  output: researchShape,
  refuses: [],
  run: (input, { tenant, cursors }) =>
    listPage(cursors, 'research.list', {}, input, (page) => find(tenant.reads, tenant.id, page)),
});
