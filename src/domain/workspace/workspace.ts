import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { WorkspaceEvent } from './events.js';

/** More members than this, and the workspace is full. */
export const maxMembers = 1000;

export type Workspace =
  | { readonly status: 'absent' }
  | { readonly status: 'open'; readonly id: string; readonly ownerId: string; readonly members: readonly string[] };

export const workspace: Aggregate<Workspace, WorkspaceEvent> = {
  category: 'workspace',
  initial: { status: 'absent' },
  evolve: {
    'workspace.created': (_, { workspaceId, ownerId }) => ({
      status: 'open',
      id: workspaceId,
      ownerId,
      members: [ownerId],
    }),
    'workspace.member_added': (state, { userId }) => withMembers(state, (members) => [...members, userId]),
    'workspace.member_removed': (state, { userId }) =>
      withMembers(state, (members) => members.filter((member) => member !== userId)),
  },
};

const withMembers = (state: Workspace, change: (members: readonly string[]) => readonly string[]): Workspace =>
  state.status === 'open' ? { ...state, members: change(state.members) } : state;

export const hasMember = (state: Workspace, userId: string): boolean =>
  state.status === 'open' && state.members.includes(userId);

export const create = (
  state: Workspace,
  data: { workspaceId: string; name: string; ownerId: string },
): Decision<WorkspaceEvent, 'conflict'> =>
  state.status === 'absent'
    ? [{ type: 'workspace.created', data }]
    : refuse('conflict', 'This workspace exists already.');

export const addMember = (
  state: Workspace,
  userId: string,
): Decision<WorkspaceEvent, 'not_found' | 'precondition_failed'> => {
  if (state.status === 'absent') return refuse('not_found');
  if (hasMember(state, userId)) return [];
  if (state.members.length >= maxMembers)
    return refuse('precondition_failed', 'The workspace is full.', { reason: 'workspace_full' });
  return [{ type: 'workspace.member_added', data: { workspaceId: state.id, userId } }];
};

export const removeMember = (
  state: Workspace,
  userId: string,
): Decision<WorkspaceEvent, 'not_found' | 'precondition_failed'> => {
  if (state.status === 'absent' || !hasMember(state, userId)) return refuse('not_found');
  if (userId === state.ownerId)
    return refuse('precondition_failed', 'The owner cannot leave the workspace.', { reason: 'owner' });
  return [{ type: 'workspace.member_removed', data: { workspaceId: state.id, userId } }];
};
