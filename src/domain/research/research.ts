import type { Aggregate } from '../kernel/aggregate.js';
import type { Decision } from '../kernel/decision.js';
import { refuse, type Refusal } from '../kernel/refusal.js';
import type { Cancellation, Failure, Limits, ResearchEvent } from './events.js';

interface Call {
  readonly agentId: string;
  readonly threadId: string;
  readonly outcome: 'open' | 'succeeded' | 'failed';
}

/** A run: who was asked, and how far it is. The question is personal text, so it stays in its event. */
export type Research =
  | { readonly status: 'absent' }
  | {
      readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
      readonly id: string;
      readonly ownerId: string;
      readonly threadId: string;
      readonly scratchpadId: string;
      readonly supervisorAgentId: string;
      readonly supervisorThreadId: string;
      readonly workerAgentIds: readonly string[];
      readonly limits: Limits;
      readonly deadlineAt: string;
      readonly keyId: string;
      readonly workspaceId: string;
      /** Number of the last claim. Only the process that made it may go on. */
      readonly attempt: number;
      readonly calls: Readonly<Record<string, Call>>;
    };
export type StartedResearch = Exclude<Research, { status: 'absent' }>;

export const research: Aggregate<Research, ResearchEvent> = {
  category: 'research',
  initial: { status: 'absent' },
  evolve: {
    'research.started': (_, { researchId, question: _question, ...data }) => ({
      ...data,
      id: researchId,
      status: 'queued',
      attempt: 0,
      calls: {},
    }),
    'research.claimed': (state, { attempt }) => changed(state, { status: 'running', attempt }),
    'research.delegated': (state, { callId, agentId, threadId }) =>
      withCall(state, callId, () => ({ agentId, threadId, outcome: 'open' })),
    'research.call_finished': (state, { callId, outcome }) =>
      withCall(state, callId, (call) => call && { ...call, outcome }),
    'research.completed': (state) => changed(state, { status: 'completed' }),
    'research.failed': (state) => changed(state, { status: 'failed' }),
    'research.cancelled': (state) => changed(state, { status: 'cancelled' }),
  },
};

const changed = (state: Research, change: Partial<StartedResearch>): Research =>
  state.status === 'absent' ? state : { ...state, ...change };

function withCall(state: Research, callId: string, made: (call: Call | undefined) => Call | undefined): Research {
  if (state.status === 'absent') return state;
  const call = made(state.calls[callId]);
  return call ? { ...state, calls: { ...state.calls, [callId]: call } } : state;
}

/** Claims of one run. Why: a run that kills its process each time is not tried for ever. */
export const maxAttempts = 3;

/** The run has not ended. */
export const isOpen = (state: Research): state is StartedResearch =>
  state.status === 'queued' || state.status === 'running';

type DataOf<Type extends ResearchEvent['type']> = Extract<ResearchEvent, { type: Type }>['data'];

export const start = (
  state: Research,
  data: Omit<DataOf<'research.started'>, 'deadlineAt'>,
  at: string,
): Decision<ResearchEvent, 'conflict'> => {
  if (state.status !== 'absent') return refuse('conflict', 'This run was started already.');
  const deadlineAt = new Date(Date.parse(at) + data.limits.deadlineSeconds * 1000).toISOString();
  return [{ type: 'research.started', data: { ...data, deadlineAt } }];
};

/**
 * Claims a run after `seen` earlier claims. Calls that the earlier process left open end as `worker_lost`. A run past its
 * deadline or its last attempt ends here instead.
 * Fails when: another process claimed or ended it since → `conflict`.
 */
export const claim = (state: Research, seen: number, at: string): Decision<ResearchEvent, 'not_found' | 'conflict'> => {
  if (state.status === 'absent') return refuse('not_found');
  if (!isOpen(state) || state.attempt !== seen) return lost();
  const left = openCalls(state, 'worker_lost');
  if (at >= state.deadlineAt) return [...left, failed(state, 'deadline_exceeded')];
  if (seen >= maxAttempts) return [...left, failed(state, 'worker_lost')];
  return [...left, { type: 'research.claimed', data: { researchId: state.id, attempt: seen + 1 } }];
};

/** Gives a worker a call of its own; the same call twice is one. */
export const delegate = (
  state: Research,
  attempt: number,
  call: Omit<DataOf<'research.delegated'>, 'researchId'>,
): Decision<ResearchEvent, 'conflict' | 'precondition_failed'> => {
  if (!isClaimedBy(state, attempt)) return lost();
  if (state.calls[call.callId]) return [];
  if (Object.keys(state.calls).length >= state.limits.maxCalls)
    return refuse('precondition_failed', `All ${state.limits.maxCalls} calls of this run were made.`);
  return [{ type: 'research.delegated', data: { researchId: state.id, ...call } }];
};

/** Records the one result of a call. Fails when: the call has one already, or the claim is lost → `conflict`. */
export const finishCall = (
  state: Research,
  attempt: number,
  callId: string,
  failure: Failure | undefined,
): Decision<ResearchEvent, 'conflict'> => {
  if (!isClaimedBy(state, attempt) || state.calls[callId]?.outcome !== 'open') return lost();
  return [finished(state, callId, failure)];
};

export const complete = (state: Research, attempt: number, answer: string): Decision<ResearchEvent, 'conflict'> =>
  isClaimedBy(state, attempt)
    ? [...openCalls(state, 'cancelled'), { type: 'research.completed', data: { researchId: state.id, answer } }]
    : lost();

/** Ends a run that cannot be completed, and its open calls with it: by the deadline, or cancelled. */
export const fail = (state: Research, attempt: number, reason: Failure): Decision<ResearchEvent, 'conflict'> =>
  isClaimedBy(state, attempt)
    ? [...openCalls(state, reason === 'deadline_exceeded' ? 'deadline_exceeded' : 'cancelled'), failed(state, reason)]
    : lost();

/** Cancels a run; twice is the same as once. Fails when: the run completed or failed before → `conflict`. */
export const cancel = (state: Research, reason: Cancellation): Decision<ResearchEvent, 'not_found' | 'conflict'> => {
  if (state.status === 'absent') return refuse('not_found');
  if (state.status === 'cancelled') return [];
  if (!isOpen(state)) return refuse('conflict', 'This run has ended already.', { reason: 'already_ended' });
  return [...openCalls(state, 'cancelled'), { type: 'research.cancelled', data: { researchId: state.id, reason } }];
};

/** The run is running under this claim. */
export const isClaimedBy = (state: Research, attempt: number): state is StartedResearch =>
  state.status === 'running' && state.attempt === attempt;

const lost = (): Refusal<'conflict'> => refuse('conflict', 'The run has moved on.');

const openCalls = (state: StartedResearch, failure: Failure): readonly ResearchEvent[] =>
  Object.entries(state.calls)
    .filter(([, { outcome }]) => outcome === 'open')
    .map(([callId]) => finished(state, callId, failure));

const finished = (
  { id: researchId }: StartedResearch,
  callId: string,
  failure: Failure | undefined,
): ResearchEvent => ({
  type: 'research.call_finished',
  data: failure ? { researchId, callId, outcome: 'failed', failure } : { researchId, callId, outcome: 'succeeded' },
});

const failed = ({ id: researchId }: StartedResearch, reason: Failure): ResearchEvent => ({
  type: 'research.failed',
  data: { researchId, reason },
});
