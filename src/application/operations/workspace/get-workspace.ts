import { z } from 'zod';
import { findWorkspace } from '../../../../projections/workspaces.js';
import { refuse } from '../../../domain/kernel/refusal.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';
import { workspaceShape } from './shapes.js';

export const getWorkspace = operation({
  name: 'workspace.get',
  kind: 'query',
  summary: 'Read a workspace that you are a member of.',
  http: 'GET /v1/workspaces/{workspaceId}',
  scope: 'workspaces:read',
  input: z.strictObject({ workspaceId: id('workspace') }),
  output: workspaceShape,
  refuses: ['not_found'],
  run: async ({ workspaceId }, { tenant }) =>
    (await findWorkspace(tenant.reads, tenant.id, workspaceId)) ?? refuse('not_found'),
});
