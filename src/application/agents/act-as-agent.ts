import { setTimeout as pause } from 'node:timers/promises';
import { agent, isLive } from '../../domain/agent/agent.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { PadRole } from '../../domain/kernel/roles.js';
import { user } from '../../domain/user/user.js';
import type { Caller } from '../access/caller.js';
import type { EventReader } from '../event-sourcing/event-reader.js';
import type { Aggregates } from '../event-sourcing/aggregates.js';
import { BackendUnavailable } from '../faults/errors.js';
import type { Gateway, Request, Success } from '../gateway/request.js';
import { derivedUuid } from '../kernel/ids.js';
import type { Operation } from '../operation/operation.js';
import type { Models } from '../ports/models.js';
import { ConversationFailed } from './outcome.js';

/** What agents need of the process. */
export interface AgentNeeds {
  readonly gateway: Gateway;
  readonly models: Pick<Models, 'open'>;
}

/** What agents work on: on whose behalf, on which scratchpad, under which names. */
export interface AgentWork {
  readonly ownerId: string;
  readonly workspaceId: string;
  /** The key on whose behalf they act. Events name it beside the agent. */
  readonly keyId: string;
  readonly scratchpadId: string;
  readonly correlationId: string;
  readonly door: Request['door'];
  /** Names of this work. With agent, role and step they make the idempotency key of a call. */
  readonly names: readonly string[];
  /** Turns of one conversation. */
  readonly maxTurns: number;
  /** Aborted, with an error as its reason, when the work ends here. */
  readonly signal: AbortSignal;
  /** Of the owner. */
  readonly aggregates: Pick<Aggregates, 'load'>;
  readonly events: Pick<EventReader, 'at'>;
  /** Fails when: the work ended, or another process has it → it throws what the work ends with. */
  assertClaimed(): Promise<void>;
}

/** As whom an operation is called: the agent, or without one the key that began the work. */
interface Acting {
  readonly agentId: string | undefined;
  /** With a role: on the work's scratchpad, in that role, and nothing else. Without: the agent's own conversation. */
  readonly role?: PadRole;
}

/** Calls an operation as an agent. `step` names the call: trying it again does not do it again. */
export type Act = (operation: Operation, input: unknown, step: string) => Promise<Success | Refusal>;

/**
 * Calls operations as an agent, through the gateway like every door, with the caller known in place of a key.
 * Fails when: the agent is retired or its owner erased → ConversationFailed; six attempts met a fault → BackendUnavailable;
 * the work ended between attempts → the reason of its signal.
 */
export function actAs(needs: AgentNeeds, work: AgentWork, acting: Acting): Act {
  const caller = callerOf(work, acting);
  const principal = { authenticate: async () => ((await mayAct(work, acting)) ? caller : undefined) };
  return async (operation, input, step) => {
    const idempotencyKey = derivedUuid(...work.names, acting.agentId ?? '', acting.role ?? '', step);
    const { door, correlationId } = work;
    for (let attempt = 1; ; attempt += 1) {
      const { result } = await needs.gateway({ operation, input, principal, door, correlationId, idempotencyKey });
      if (!isRefusal(result)) return result;
      if (result.refused === 'authentication_failed') throw new ConversationFailed('agent_retired');
      if (result.refused !== 'unavailable' && result.refused !== 'internal_fault') return result;
      if (attempt === maxAttempts) throw new BackendUnavailable('eventstore');
      await pause(firstPauseMs * 2 ** attempt);
      work.signal.throwIfAborted();
    }
  };
}

const maxAttempts = 6;
const firstPauseMs = 50;

const callerOf = ({ ownerId, workspaceId, keyId, scratchpadId }: AgentWork, { agentId, role }: Acting): Caller => ({
  userId: ownerId,
  workspaceId,
  keyId,
  role: 'member',
  scopes: new Set(role ? ['scratchpads:read', 'scratchpads:write'] : ['messages:write']),
  ...(agentId !== undefined && { agentId }),
  ...(role && { pad: { scratchpadId, role } }),
});

async function mayAct({ ownerId, aggregates }: AgentWork, { agentId }: Acting): Promise<boolean> {
  if ((await aggregates.load(user, ownerId)).status !== 'active') return false;
  return agentId === undefined || isLive(await aggregates.load(agent, agentId), ownerId);
}
