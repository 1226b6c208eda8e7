import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { PadRole, Role } from '../kernel/roles.js';
import type { KeyEvent } from './events.js';

export type Key =
  | { readonly status: 'absent' }
  | { readonly status: 'revoked'; readonly id: string }
  | {
      readonly status: 'active';
      readonly id: string;
      readonly userId: string;
      readonly workspaceId: string;
      readonly role: Role;
      readonly scopes: readonly string[];
      readonly secretHash: string;
      readonly expiresAt: string | null;
      readonly pad: { readonly scratchpadId: string; readonly role: PadRole } | null;
      readonly agentId: string | null;
    };

export const key: Aggregate<Key, KeyEvent> = {
  category: 'key',
  initial: { status: 'absent' },
  evolve: {
    'key.created': (_, { keyId, userId, workspaceId, role, scopes, secretHash, expiresAt, pad, agentId }) => ({
      status: 'active',
      id: keyId,
      userId,
      workspaceId,
      role,
      scopes,
      secretHash,
      expiresAt,
      pad: pad ?? null,
      agentId: agentId ?? null,
    }),
    'key.revoked': (_, { keyId }) => ({ status: 'revoked', id: keyId }),
  },
  snapshotVersion: 2,
};

export const create = (
  state: Key,
  data: Extract<KeyEvent, { type: 'key.created' }>['data'],
): Decision<KeyEvent, 'conflict'> =>
  state.status === 'absent' ? [{ type: 'key.created', data }] : refuse('conflict', 'This key exists already.');

/** Revokes a key; revoking again changes nothing. */
export const revoke = (state: Key): Decision<KeyEvent, 'not_found'> => {
  if (state.status === 'absent') return refuse('not_found');
  return state.status === 'active' ? [{ type: 'key.revoked', data: { keyId: state.id } }] : [];
};
