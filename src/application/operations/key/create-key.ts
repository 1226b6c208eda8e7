import { z } from 'zod';
import { agent, isLive } from '../../../domain/agent/agent.js';
import { create, key } from '../../../domain/key/key.js';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { padRoles } from '../../../domain/kernel/roles.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { hasMember, workspace } from '../../../domain/workspace/workspace.js';
import { allScopes, type Caller } from '../../access/caller.js';
import type { OperationContext } from '../../operation/context.js';
import { operation } from '../../operation/operation.js';
import { invalid } from '../../kernel/validation.js';
import { id, name, uuidId } from '../../kernel/schemas.js';
import { keyShape } from './shapes.js';

export const createKey = operation({
  name: 'key.create',
  kind: 'command',
  summary: 'Create an API key with the scopes of yours or fewer. The key is shown only in this answer.',
  http: 'POST /v1/keys',
  scope: 'keys:write',
  price: 'free',
  creates: true,
  input: z.strictObject({
    name: name(),
    scopes: z.array(z.enum(allScopes)).min(1).max(allScopes.length).optional(),
    expiresAt: z.iso
      .datetime({ precision: 3 })
      .or(z.iso.datetime({ precision: 0 }))
      .optional(),
    workspaceId: id('workspace').optional(),
    scratchpadId: id('scratchpad')
      .optional()
      .meta({ description: 'Bind the key to this scratchpad, and to nothing else.' }),
    padRole: z.enum(padRoles).default('worker').meta({ description: 'What a bound key acts as.' }),
    agentId: uuidId()
      .optional()
      .meta({ description: 'Whoever holds the key acts as this agent of yours: it is the author of what it writes.' }),
  }),
  output: keyShape.extend({
    key: z.string().optional().meta({ description: 'The plain key; absent when the command is replayed.' }),
  }),
  refuses: ['not_found', 'authorization_refused', 'validation_failed', 'conflict'],
  async run(input, context) {
    const { caller, ids, streams, keys } = context;
    const { scratchpadId } = input;
    const pad = scratchpadId === undefined ? undefined : { scratchpadId, role: input.padRole };
    const offered = [...caller.scopes].filter((scope) => !pad || padScopes.includes(scope));
    const scopes = [...new Set(input.scopes ?? offered)].sort();
    if (!scopes.every((scope) => offered.includes(scope))) return refuse('authorization_refused');
    const workspaceId = input.workspaceId ?? caller.workspaceId;
    if (!(await isMember(caller, workspaceId, context))) return refuse('not_found');
    if (pad && (await streams.load(scratchpad, pad.scratchpadId)).status !== 'open') return refuse('not_found');

    const agentId = input.agentId ?? caller.agentId;
    if (agentId !== undefined && !isLive(await streams.load(agent, agentId), caller.userId)) return refuse('not_found');
    // An agent passes on no more than it is: its keys make no keys that act as somebody else.
    if (caller.agentId !== undefined && agentId !== caller.agentId) return refuse('authorization_refused');

    const keyId = ids.make('key');
    const expiresAt = input.expiresAt === undefined ? null : new Date(input.expiresAt).toISOString();
    const { key: plain, secretHash, display } = keys.make(keyId);
    const data = {
      keyId,
      userId: caller.userId,
      workspaceId,
      role: caller.role,
      name: input.name,
      scopes,
      secretHash,
      display,
      expiresAt,
      ...(pad && { pad }),
      ...(agentId !== undefined && { agentId }),
    };
    const created = await streams.execute(key, keyId, (state, at) =>
      expiresAt !== null && expiresAt <= at
        ? invalid([{ param: 'expiresAt', rule: 'must be in the future' }])
        : create(state, data),
    );
    if (isRefusal(created)) return created;
    return {
      ...{ id: keyId, name: input.name, display, scopes, workspaceId, expiresAt },
      createdAt: created.events[0]?.at ?? '',
      lastUsedAt: null,
      pad: pad ?? null,
      agentId: agentId ?? null,
      ...(!created.replayed && { key: plain }),
    };
  },
});

/** A bound key is for the words of its pad and for nothing else. */
const padScopes: readonly string[] = ['scratchpads:read', 'scratchpads:write'];

async function isMember(
  { userId, workspaceId: own }: Caller,
  workspaceId: string,
  { streams }: OperationContext,
): Promise<boolean> {
  if (workspaceId === own) return true;
  // Whoever owns it: its stream knows its members, and a read model may not have heard of a new one.
  const first = await streams.first(`${workspace.category}-${workspaceId}`);
  if (!first) return false;
  return hasMember(await streams.as(first.metadata.ownerId).load(workspace, workspaceId), userId);
}
