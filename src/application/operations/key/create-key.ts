import { z } from 'zod';
import { agent, isLive } from '../../../domain/agent/agent.js';
import { create, key } from '../../../domain/key/key.js';
import { isRefusal, refuse } from '../../../domain/kernel/refusal.js';
import { padRoles } from '../../../domain/kernel/roles.js';
import { scratchpad } from '../../../domain/scratchpad/scratchpad.js';
import { hasMember, workspace } from '../../../domain/workspace/workspace.js';
import type { Caller } from '../../access/caller.js';
import { allScopes } from '../../access/scopes.js';
import type { Powers } from '../../operation/context.js';
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
  uses: ['apiKeys', 'firstEvents', 'tenantOf'],
  async run(input, { caller, command, tenant }, powers) {
    const { aggregates } = tenant;
    const { scratchpadId } = input;
    const pad = scratchpadId === undefined ? undefined : { scratchpadId, role: input.padRole };
    const offered = [...caller.scopes].filter((scope) => !pad || padScopes.includes(scope));
    const scopes = [...new Set(input.scopes ?? offered)].sort();
    if (!scopes.every((scope) => offered.includes(scope))) return refuse('authorization_refused');
    const workspaceId = input.workspaceId ?? caller.workspaceId;
    if (!(await isMember(caller, workspaceId, powers))) return refuse('not_found');
    if (pad && (await aggregates.load(scratchpad, pad.scratchpadId)).status !== 'open') return refuse('not_found');

    const agentId = input.agentId ?? caller.agentId;
    if (agentId !== undefined && !isLive(await aggregates.load(agent, agentId), caller.userId))
      return refuse('not_found');
    // An agent passes on no more than it is: its keys make no keys that act as somebody else.
    if (caller.agentId !== undefined && agentId !== caller.agentId) return refuse('authorization_refused');

    const keyId = command.newId('key');
    const expiresAt = input.expiresAt === undefined ? null : new Date(input.expiresAt).toISOString();
    const { key: plain, secretHash, display } = powers.apiKeys.make(keyId);
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
    const created = await aggregates.execute(key, keyId, (state, at) =>
      expiresAt !== null && expiresAt <= at
        ? invalid([{ param: 'expiresAt', rule: 'must be in the future' }])
        : create(state, data),
    );
    if (isRefusal(created)) return created;
    return {
      id: keyId,
      name: input.name,
      display,
      scopes,
      workspaceId,
      expiresAt,
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

/** The stream of a workspace knows its members; a read model may not show a new one yet. */
async function isMember(
  { userId, workspaceId: own }: Caller,
  workspaceId: string,
  { firstEvents, tenantOf }: Pick<Powers, 'firstEvents' | 'tenantOf'>,
): Promise<boolean> {
  if (workspaceId === own) return true;
  const first = await firstEvents.read(`${workspace.category}-${workspaceId}`);
  if (!first) return false;
  return hasMember(await tenantOf(first.metadata.ownerId).aggregates.load(workspace, workspaceId), userId);
}
