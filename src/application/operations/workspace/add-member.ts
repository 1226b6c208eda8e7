import { z } from 'zod';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { user } from '../../../domain/user/user.js';
import { addMember as add, workspace } from '../../../domain/workspace/workspace.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

export const addMember = operation({
  name: 'workspace.member.add',
  kind: 'command',
  summary: 'Let another user make keys in a workspace that you own.',
  http: 'POST /v1/workspaces/{workspaceId}/members',
  scope: 'workspaces:write',
  creates: true,
  input: z.strictObject({ workspaceId: id('workspace'), memberId: id('user') }),
  output: z.object({ workspaceId: id('workspace'), memberId: id('user') }),
  refuses: ['not_found', 'precondition_failed', 'conflict'],
  uses: ['tenantOf'],
  async run({ workspaceId, memberId }, { tenant: { aggregates } }, { tenantOf }) {
    const member = await tenantOf(memberId).aggregates.load(user, memberId);
    if (member.status !== 'active') return refuse('not_found');
    const added = await aggregates.execute(workspace, workspaceId, (state) => add(state, memberId));
    return isRefusal(added) ? added : { workspaceId, memberId };
  },
});
