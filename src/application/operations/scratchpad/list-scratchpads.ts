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
  price: 'free',
  input: z.strictObject(paging),
  output: scratchpadShape,
  refuses: [],
  run: (input, { caller, db, cursors }) =>
    listPage(cursors, 'scratchpad.list', {}, input, (stretch) => find(db, caller.userId, stretch)),
});
