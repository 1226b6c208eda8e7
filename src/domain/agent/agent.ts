import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse } from '../kernel/refusal.js';
import type { AgentEvent, Fence } from './events.js';

/**
 * An agent and the fence of its enrollment. Invariant: its id derives from the idempotency key, so the first event of its
 * stream decides for every tenant and process who enrolled, or that nobody did (docs/flows.md#enroll-agent).
 */
export type Agent =
  | { readonly status: 'absent' | 'abandoned' }
  | {
      readonly status: 'enrolled' | 'retired';
      readonly id: string;
      readonly ownerId: string;
      readonly provider: string;
      readonly credentialVersionId: string | null;
      readonly fence: Fence;
    };

export const agent: Aggregate<Agent, AgentEvent> = {
  category: 'agent',
  initial: { status: 'absent' },
  evolve: {
    'agent.enrolled': (_, { agentId, ownerId, provider, credentialVersionId, fence }) => ({
      status: 'enrolled',
      id: agentId,
      ownerId,
      provider,
      credentialVersionId,
      fence,
    }),
    'agent.enrollment_replayed': (state) => state,
    'agent.enrollment_abandoned': () => ({ status: 'abandoned' }),
    'agent.retired': (state) => (state.status === 'enrolled' ? { ...state, status: 'retired' } : state),
  },
};

type DataOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>['data'];

export const enroll = (state: Agent, data: DataOf<'agent.enrolled'>): Decision<AgentEvent, 'conflict'> =>
  state.status === 'absent' ? [{ type: 'agent.enrolled', data }] : refuse('conflict');

/** Abandons an enrollment that has no event. Fails when: the agent is enrolled → `conflict`. */
export const abandon = (state: Agent, data: DataOf<'agent.enrollment_abandoned'>): Decision<AgentEvent, 'conflict'> => {
  if (state.status === 'absent') return [{ type: 'agent.enrollment_abandoned', data }];
  return state.status === 'abandoned' ? [] : refuse('conflict');
};

/** Retires an agent; retiring again changes nothing. */
export const retire = (state: Agent, reason: DataOf<'agent.retired'>['reason']): Decision<AgentEvent, 'not_found'> => {
  if (state.status === 'retired') return [];
  return state.status === 'enrolled'
    ? [{ type: 'agent.retired', data: { agentId: state.id, reason } }]
    : refuse('not_found');
};

/** Answers whether the agent is enrolled, by this owner, and not retired. */
export const isLive = (state: Agent, ownerId: string): boolean =>
  state.status === 'enrolled' && state.ownerId === ownerId;

/** A submission under a key that was used before. */
export type Submission = Pick<Fence, 'principal' | 'scope' | 'digest' | 'digestForm' | 'replayMode'>;

/**
 * Decides whether a submission is answered with the recorded outcome: replay mode, scope and digest are equal; the
 * submitter may read the agent now; the submitter is the recorded actor (docs/flows.md#replay-of-an-enrollment).
 * Fails when: any of these does not hold → `conflict`, without a reason, so that it identifies nothing that is recorded.
 */
export const replay = (
  state: Agent,
  submission: Submission,
  mayRead: (ownerId: string) => boolean,
  eventId: string,
): Decision<AgentEvent, 'conflict'> => {
  if (state.status !== 'enrolled') return refuse('conflict');
  const { id, ownerId, fence } = state;
  const isSameRequest =
    fence.replayMode === submission.replayMode &&
    fence.scope === submission.scope &&
    fence.digestForm === submission.digestForm &&
    fence.digest === submission.digest;
  if (!isSameRequest || !mayRead(ownerId) || fence.principal !== submission.principal) return refuse('conflict');
  const { operation, key } = fence;
  const { principal } = submission;
  return [{ type: 'agent.enrollment_replayed', data: { agentId: id, principal, fence: { operation, key, eventId } } }];
};
