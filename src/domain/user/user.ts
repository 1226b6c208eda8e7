import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { Role } from '../kernel/roles.js';
import type { UserEvent } from './events.js';

export type User =
  | { readonly status: 'absent' | 'erased' }
  | {
      readonly status: 'active';
      readonly id: string;
      readonly role: Role;
      readonly workspaceId: string;
      readonly keyId: string;
    };

export const user: Aggregate<User, UserEvent> = {
  category: 'user',
  initial: { status: 'absent' },
  evolve: {
    'user.created': (_, { userId, role, workspaceId, keyId }) => ({
      status: 'active',
      id: userId,
      role,
      workspaceId,
      keyId,
    }),
    'user.erased': () => ({ status: 'erased' }),
  },
};

export interface NewUser {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  readonly workspaceId: string;
  readonly keyId: string;
}

export const create = (state: User, data: NewUser): Decision<UserEvent, 'conflict'> =>
  state.status === 'absent' ? [{ type: 'user.created', data }] : refuse('conflict', 'This user exists already.');

/** Erases a user; erasing again changes nothing. */
export const erase = (state: User): Decision<UserEvent, 'not_found'> => {
  if (state.status === 'absent') return refuse('not_found');
  return state.status === 'active' ? [{ type: 'user.erased', data: { userId: state.id } }] : [];
};
