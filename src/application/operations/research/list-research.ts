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
  price: 'free',
  input: z.strictObject(paging),
  output: researchShape,
  refuses: [],
  run: (input, { caller, db, cursors }) =>
    listPage(cursors, 'research.list', {}, input, (stretch) => find(db, caller.userId, stretch)),
});
