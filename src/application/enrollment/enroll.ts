import { randomUUID } from 'node:crypto';
import * as agents from '../../domain/agent/agent.js';
import { agentEvents, type AgentEvent, type Fence } from '../../domain/agent/events.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { OperationContext } from '../operation/context.js';
import type { Secret } from '../kernel/secret.js';
import { idempotencyCollision } from '../event-sourcing/aggregates.js';
import type { VersionRef } from '../ports/credential-vault.js';
import { agentIdOf, credentialIdOf, fenceOf } from './fence.js';
import { checkPreconditions } from './preconditions.js';

/** An enrollment as it was asked for. */
export interface Enrollment {
  readonly harness: string;
  readonly name: string;
  readonly persona: string | null;
  readonly model: string;
  readonly provider: string;
  readonly credential:
    { readonly mode: 'reference' } | { readonly mode: 'intake'; readonly type: 'api_key'; readonly value: Secret };
  readonly replayMode: Fence['replayMode'];
}

export type Enrolled = Extract<AgentEvent, { type: 'agent.enrolled' }>['data'] & { readonly enrolledAt: string };

type Answer = Enrolled | Refusal<'conflict' | 'precondition_failed'>;

/** So many attempts under one key were abandoned: each by a crash and a reaper, so this is never met in practice. */
const maxAttempts = 64;

/**
 * Enrolls an agent, or answers what this key enrolled before. The one commit point is `agent.enrolled` as the first event
 * of the stream that the key names (03-flows "agent.enroll"). What was sealed becomes active by the reaction on that event;
 * whoever needs it sooner settles it first (settle.ts).
 */
export async function enroll(request: Enrollment, context: OperationContext): Promise<Answer> {
  const { idempotency, streams } = context;
  if (!idempotency) throw new Error('The gateway lets no enrollment pass without an idempotency key.');
  const fence = fenceOf(context.caller, idempotency, request.replayMode);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const agentId = agentIdOf(idempotency.key, attempt);
    const answer = await streams.inTurn(streamOf(agentId), () => attemptOnce(agentId, fence, request, context));
    if (answer !== 'abandoned') return answer;
  }
  return idempotencyCollision();
}

const streamOf = (agentId: string): string => `${agents.agent.category}-${agentId}`;

async function attemptOnce(
  agentId: string,
  fence: Omit<Fence, 'outcome'>,
  request: Enrollment,
  context: OperationContext,
): Promise<Answer | 'abandoned'> {
  const { streams, vault, caller } = context;
  const stream = streamOf(agentId);
  let staged = await stageIfFirst(agentId, request, context);
  if (!staged) {
    const first = await streams.first(stream);
    if (first) return recorded(first, fence, context);
    const unmet = await checkPreconditions(request, context);
    if (unmet) return unmet;
    staged = await stage(agentId, request, context);
  }
  const data: Omit<Enrolled, 'enrolledAt'> = {
    agentId,
    ownerId: caller.userId,
    harness: request.harness,
    provider: request.provider,
    model: request.model,
    name: request.name,
    persona: request.persona,
    credentialMode: request.credential.mode,
    credentialId: credentialIdOf(caller.userId, request.provider),
    credentialVersionId: staged?.id ?? null,
    fence: { ...fence, outcome: agentId },
  };
  // What was sealed differs from run to run, so each run's event has an id of its own: the store then never takes one for another.
  const decision = agents.enroll({ status: 'absent' }, data);
  const [event] = isRefusal(decision) ? [] : decision;
  const enrolledAt = event && (await streams.begin(stream, { ...event, id: randomUUID() }));
  if (enrolledAt === undefined) {
    if (staged) await vault.discard(staged);
    const other = await streams.first(stream);
    if (!other) throw new Error('The stream that was taken is empty.');
    return recorded(other, fence, context);
  }
  return { ...data, enrolledAt };
}

/**
 * Most submissions are the first under their key. Of those that bring a credential the vault knows it, and the event store
 * need not be asked. Undefined: somebody may have been first, or something is to be told only to who is.
 */
async function stageIfFirst(agentId: string, request: Enrollment, context: OperationContext) {
  if (request.credential.mode === 'reference') return undefined;
  // What cannot be told now is asked again after a look for who was first, and its fault is met there.
  const unmet = await checkPreconditions(request, context).catch(() => 'not known');
  return unmet === undefined ? stage(agentId, request, context, 'unless begun') : undefined;
}

async function stage(
  agentId: string,
  { credential, provider }: Enrollment,
  { caller, vault }: OperationContext,
  condition?: 'unless begun',
): Promise<VersionRef | undefined> {
  if (credential.mode === 'reference') return undefined;
  const version = { id: randomUUID(), ownerId: caller.userId, provider, agentId };
  return (await vault.stage(version, credential.value, condition)) ? version : undefined;
}

/** What was first under this key: an abandoned attempt, or an outcome that is answered again to whom it belongs. */
async function recorded(
  first: DecodedEvent,
  submission: Omit<Fence, 'outcome'>,
  { streams, caller }: OperationContext,
): Promise<Enrolled | Refusal<'conflict'> | 'abandoned'> {
  if (first.type === 'agent.enrollment_abandoned') return 'abandoned';
  if (first.type !== 'agent.enrolled') return idempotencyCollision();
  const data = agentEvents['agent.enrolled'].parse(first.data);
  const state = await streams.as(first.metadata.ownerId).load(agents.agent, data.agentId);
  const mayRead = (ownerId: string) => ownerId === caller.userId || caller.role === 'admin';
  const decision = agents.replay(state, submission, mayRead, first.id);
  if (isRefusal(decision)) return idempotencyCollision();
  for (const event of decision) await streams.replays(first.stream, { ...event, id: randomUUID() });
  return { ...data, enrolledAt: first.at };
}
