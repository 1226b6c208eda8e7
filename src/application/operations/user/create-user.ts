import { z } from 'zod';
import { isRefusal } from '../../../domain/kernel/refusal.js';
import * as keys from '../../../domain/key/key.js';
import { roles } from '../../../domain/kernel/roles.js';
import * as users from '../../../domain/user/user.js';
import * as workspaces from '../../../domain/workspace/workspace.js';
import { scopesOf } from '../../access/scopes.js';
import { operation } from '../../operation/operation.js';
import { id, name, time } from '../../kernel/schemas.js';
import { userShape } from './shapes.js';

/** `user.created` is the commit; workspace and key follow from it, and a retry with the same idempotency key makes them up. */
export const createUser = operation({
  name: 'user.create',
  kind: 'command',
  summary: 'Create a user with a workspace and a first API key. The key is shown only in this answer.',
  http: 'POST /v1/users',
  scope: 'users:write',
  roles: ['admin'],
  creates: true,
  input: z.strictObject({ name: name(), role: z.enum(roles).default('member') }),
  output: z.object({
    user: userShape,
    workspace: z.object({ id: id('workspace'), name: z.string(), ownerId: id('user') }),
    key: z.object({
      id: id('key'),
      key: z.string().optional().meta({ description: 'The plain key; absent when the command is replayed.' }),
      scopes: z.array(z.string()),
      expiresAt: time().nullable(),
    }),
  }),
  refuses: ['conflict'],
  uses: ['apiKeys', 'tenantOf'],
  async run(input, { command }, { apiKeys, tenantOf }) {
    const [userId, workspaceId, keyId] = [command.newId('user'), command.newId('workspace'), command.newId('key')];
    const theirs = tenantOf(userId).aggregates;
    const created = await theirs.execute(users.user, userId, (state) =>
      users.create(state, { userId, workspaceId, keyId, name: input.name, role: input.role }),
    );
    if (isRefusal(created)) return created;

    const workspace = { workspaceId, name: input.name, ownerId: userId };
    const opened = await theirs.execute(workspaces.workspace, workspaceId, (state) =>
      workspaces.create(state, workspace),
    );
    if (isRefusal(opened)) return opened;

    const { key, secretHash, display } = apiKeys.make(keyId);
    const scopes = [...scopesOf(input.role)];
    const first = {
      keyId,
      userId,
      workspaceId,
      role: input.role,
      name: 'first key',
      scopes,
      secretHash,
      display,
      expiresAt: null,
    };
    const issued = await theirs.execute(keys.key, keyId, (state) => keys.create(state, first));
    if (isRefusal(issued)) return issued;

    const createdAt = created.events[0]?.at ?? '';
    return {
      user: { id: userId, name: input.name, role: input.role, createdAt },
      workspace: { id: workspaceId, name: workspace.name, ownerId: userId },
      key: { id: keyId, ...(!issued.replayed && { key }), scopes, expiresAt: null },
    };
  },
});
