import { z } from 'zod';
import { listWorkspaces as find } from '../../../../projections/workspaces.js';
import { listPage } from '../../operation/list-page.js';
import { operation } from '../../operation/operation.js';
import { paging } from '../../kernel/schemas.js';
import { workspaceShape } from './shapes.js';

export const listWorkspaces = operation({
  name: 'workspace.list',
  kind: 'list',
  summary: 'List the workspaces that you are a member of.',
  http: 'GET /v1/workspaces',
  scope: 'workspaces:read',
  input: z.strictObject(paging),
  output: workspaceShape,
  refuses: [],
  run: (input, { tenant, cursors }) =>
    listPage(cursors, 'workspace.list', {}, input, (page) => find(tenant.reads, tenant.id, page)),
});
