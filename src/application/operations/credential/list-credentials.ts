import { z } from 'zod';
import { listCredentials as find } from '../../../../projections/credentials.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { id, paging, time } from '../../kernel/schemas.js';

export const listCredentials = operation({
  name: 'credential.list',
  kind: 'list',
  summary: 'List the provider credentials that you keep: what they are for, never what they are.',
  http: 'GET /v1/credentials',
  scope: 'credentials:read',
  input: z.strictObject(paging),
  output: z.object({
    id: id('credential'),
    provider: z.string(),
    mode: z.literal('intake'),
    type: z.literal('api_key'),
    createdAt: time(),
    rotatedAt: time().nullable(),
    usedBy: z.number().int().meta({ description: 'Agents of yours that use it.' }),
  }),
  refuses: [],
  run: (input, { tenant, cursors }) =>
    listPage(cursors, 'credential.list', {}, input, (page) => find(tenant.reads, tenant.id, page)),
});
