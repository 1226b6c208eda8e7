import { setTimeout as pause } from 'node:timers/promises';
import { agent, isLive } from '../../domain/agent/agent.js';
import { isRefusal } from '../../domain/kernel/refusal.js';
import type { BegunResearch } from '../../domain/research/research.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import { user } from '../../domain/user/user.js';
import type { Caller } from '../access/caller.js';
import { makeGateway, type GatewayNeeds } from '../gateway/gateway.js';
import { derivedUuid } from '../kernel/ids.js';
import type { Operation } from '../operation/operation.js';
import { BackendUnavailable } from '../faults/errors.js';
import { ConversationFailed } from './outcome.js';
import type { Reply } from '../gateway/request.js';

/** Calls an operation as an agent of a run. `step` names the call, so that trying it again does not do it again. */
export type Act = (operation: Operation, input: unknown, step: string) => Promise<Reply['result']>;

/**
 * An agent of a run calls operations by the same path as everybody: the gateway, with the caller known instead of a key.
 * With a role it acts on the run's scratchpad, in that role, and on nothing else; without, it keeps its conversation. Throws
 * GaveUp once the agent is retired, BackendUnavailable when trying again did not help.
 */
export function actAs(
  needs: GatewayNeeds,
  run: BegunResearch & { readonly correlationId: string },
  agentId: string | undefined,
  role: PadRole | undefined,
  signal: AbortSignal,
): Act {
  const caller = callerOf(run, agentId, role);
  const gateway = makeGateway({
    ...needs,
    authenticate: async () => ((await mayAct(needs, caller)) ? caller : undefined),
  });
  return async (operation, input, step) => {
    const name = ['research', run.id, String(run.attempt), agentId ?? '', role ?? '', step];
    const request = {
      ...{ operation, input, token: undefined, door: 'research' as const, correlationId: run.correlationId },
      idempotencyKey: derivedUuid(...name),
    };
    for (let attempt = 1; ; attempt += 1) {
      const { result } = await gateway(request);
      if (!isRefusal(result)) return result;
      if (result.refused === 'authentication_failed') throw new ConversationFailed('agent_retired');
      if (result.refused !== 'unavailable' && result.refused !== 'internal_fault') return result;
      if (attempt === mostTries) throw new BackendUnavailable('eventstore');
      await pause(firstPauseMs * 2 ** attempt);
      signal.throwIfAborted();
    }
  };
}

const mostTries = 6;
const firstPauseMs = 50;

const callerOf = (
  { ownerId: userId, workspaceId, keyId, scratchpadId }: BegunResearch,
  agentId: string | undefined,
  role: PadRole | undefined,
): Caller => ({
  ...{ userId, workspaceId, keyId, role: 'member' },
  ...(agentId !== undefined && { agentId }),
  scopes: new Set(role ? ['scratchpads:read', 'scratchpads:write'] : ['messages:write']),
  ...(role && { pad: { scratchpadId, role } }),
});

async function mayAct({ store }: GatewayNeeds, { userId, agentId }: Caller): Promise<boolean> {
  if ((await store.load(user, userId)).state.status !== 'active') return false;
  return agentId === undefined || isLive((await store.load(agent, agentId)).state, userId);
}
