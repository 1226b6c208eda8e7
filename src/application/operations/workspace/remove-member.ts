import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import { removeMember as remove, workspace } from '../../../domain/workspace/workspace.js';
import { operation } from '../../operation/operation.js';
import { id } from '../../kernel/schemas.js';

/** Keys that the member made in this workspace stop working within 5 s: authentication asks for membership. */
export const removeMember = operation({
  name: 'workspace.member.remove',
  kind: 'command',
  summary: 'End the membership of a user in a workspace that you own; their keys in it stop working.',
  http: 'DELETE /v1/workspaces/{workspaceId}/members/{memberId}',
  scope: 'workspaces:write',
  input: z.strictObject({ workspaceId: id('workspace'), memberId: id('user') }),
  output: z.object({ workspaceId: id('workspace'), memberId: id('user'), removed: z.literal(true) }),
  refuses: ['not_found', 'precondition_failed', 'conflict'],
  async run({ workspaceId, memberId }, { tenant: { aggregates } }) {
    const removed = await aggregates.execute(workspace, workspaceId, (state) => remove(state, memberId));
    return isRefusal(removed) ? removed : { workspaceId, memberId, removed: true as const };
  },
});
