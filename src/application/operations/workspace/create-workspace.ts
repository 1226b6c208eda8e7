import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { create, workspace } from '../../../domain/workspace/workspace.js';
import { operation } from '../../operation/operation.js';
import { name } from '../../kernel/schemas.js';
import { workspaceShape } from './shapes.js';

export const createWorkspace = operation({
  name: 'workspace.create',
  kind: 'command',
  summary: 'Create a workspace that you own and pay for.',
  http: 'POST /v1/workspaces',
  scope: 'workspaces:write',
  creates: true,
  input: z.strictObject({ name: name() }),
  output: workspaceShape,
  refuses: ['conflict'],
  async run(input, { command, tenant }) {
    const workspaceId = command.newId('workspace');
    const data = { workspaceId, name: input.name, ownerId: tenant.id };
    const created = await tenant.aggregates.execute(workspace, workspaceId, (state) => create(state, data));
    if (isRefusal(created)) return created;
    return { id: workspaceId, name: input.name, ownerId: tenant.id, createdAt: created.events[0]?.at ?? '' };
  },
});
