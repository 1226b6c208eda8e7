import { z } from 'zod';
import { listKeys as find } from '../../../../projections/keys.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { paging } from '../../kernel/schemas.js';
import { keyShape } from './shapes.js';

export const listKeys = operation({
  name: 'key.list',
  kind: 'list',
  summary: 'List your API keys that are not revoked; never the keys themselves.',
  http: 'GET /v1/keys',
  scope: 'keys:read',
  input: z.strictObject(paging),
  output: keyShape,
  refuses: [],
  run: (input, { tenant, cursors }) =>
    listPage(cursors, 'key.list', {}, input, (page) => find(tenant.reads, tenant.id, page)),
});
