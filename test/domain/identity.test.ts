import type { KeyEvent } from '../../src/domain/key/events.js';
import * as keys from '../../src/domain/key/key.js';
import type { UserEvent } from '../../src/domain/user/events.js';
import * as users from '../../src/domain/user/user.js';
import type { WorkspaceEvent } from '../../src/domain/workspace/events.js';
import * as workspaces from '../../src/domain/workspace/workspace.js';
import { givenFor } from '../support/given.js';

describe('a user', () => {
  const given = givenFor(users.user);
  const data = { userId: 'user_1', name: 'Ada', role: 'member', workspaceId: 'ws_1', keyId: 'key_1' } as const;
  const created: UserEvent = { type: 'user.created', data };
  const erased: UserEvent = { type: 'user.erased', data: { userId: 'user_1' } };

  it('is created once', () => given().when(users.create, data).then(created));
  it('is not created twice', () => given(created).when(users.create, data).thenRefused('conflict'));
  it('is not created again after an erase', () =>
    given(created, erased).when(users.create, data).thenRefused('conflict'));
  it('can be erased', () => given(created).when(users.erase).then(erased));
  it('is erased only once', () => given(created, erased).when(users.erase).thenNothing());
  it('that never was cannot be erased', () => given().when(users.erase).thenRefused('not_found'));
});

describe('a workspace', () => {
  const given = givenFor(workspaces.workspace);
  const data = { workspaceId: 'ws_1', name: 'Team', ownerId: 'user_1' };
  const created: WorkspaceEvent = { type: 'workspace.created', data };
  const added: WorkspaceEvent = { type: 'workspace.member_added', data: { workspaceId: 'ws_1', userId: 'user_2' } };
  const removed: WorkspaceEvent = { type: 'workspace.member_removed', data: { workspaceId: 'ws_1', userId: 'user_2' } };

  it('is created once', () => given().when(workspaces.create, data).then(created));
  it('is not created twice', () => given(created).when(workspaces.create, data).thenRefused('conflict'));
  it('has its owner as a member', () => expect(workspaces.hasMember(given(created).state, 'user_1')).toBe(true));
  it('takes a member', () => given(created).when(workspaces.addMember, 'user_2').then(added));
  it('takes a member only once', () => given(created, added).when(workspaces.addMember, 'user_2').thenNothing());
  it('lets a member go', () => given(created, added).when(workspaces.removeMember, 'user_2').then(removed));
  it('does not know who left', () =>
    given(created, added, removed).when(workspaces.removeMember, 'user_2').thenRefused('not_found'));
  it('keeps its owner', () =>
    given(created).when(workspaces.removeMember, 'user_1').thenRefused('precondition_failed'));
  it('that never was has no members', () => given().when(workspaces.addMember, 'user_2').thenRefused('not_found'));
});

describe('a key', () => {
  const given = givenFor(keys.key);
  const data: Extract<KeyEvent, { type: 'key.created' }>['data'] = {
    keyId: 'key_1',
    userId: 'user_1',
    workspaceId: 'ws_1',
    role: 'member',
    name: 'worker',
    scopes: ['threads:read'],
    secretHash: 'ab',
    display: 'plm_key_1…',
    expiresAt: null,
  };
  const created: KeyEvent = { type: 'key.created', data };
  const revoked: KeyEvent = { type: 'key.revoked', data: { keyId: 'key_1' } };

  it('is created once', () => given().when(keys.create, data).then(created));
  it('is not created twice', () => given(created).when(keys.create, data).thenRefused('conflict'));
  it('can be revoked', () => given(created).when(keys.revoke).then(revoked));
  it('is revoked only once', () => given(created, revoked).when(keys.revoke).thenNothing());
  it('that never was cannot be revoked', () => given().when(keys.revoke).thenRefused('not_found'));
  it('acts as the agent that it was made for, and otherwise as nobody', () => {
    expect(given({ type: 'key.created', data: { ...data, agentId: 'a1' } }).state).toMatchObject({ agentId: 'a1' });
    expect(given(created).state).toMatchObject({ agentId: null });
  });
});
