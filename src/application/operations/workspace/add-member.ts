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
  price: 'free',
  creates: true,
  input: z.strictObject({ workspaceId: id('workspace'), memberId: id('user') }),
  output: z.object({ workspaceId: id('workspace'), memberId: id('user') }),
  refuses: ['not_found', 'precondition_failed', 'conflict'],
  async run({ workspaceId, memberId }, { streams }) {
    if ((await streams.as(memberId).load(user, memberId)).status !== 'active') return refuse('not_found');
    const added = await streams.execute(workspace, workspaceId, (state) => add(state, memberId));
    return isRefusal(added) ? added : { workspaceId, memberId };
  },
});
