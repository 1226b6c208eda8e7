import { randomUUID } from 'node:crypto';
import * as agents from '../../domain/agent/agent.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import { idempotencyCollision } from '../event-sourcing/recorded-outcome.js';
import { credentialIdOf } from '../ports/credential-vault.js';
import type { Enrolled, Enrollment, EnrollmentContext } from './enrollment.js';
import { agentIdOf, fenceOf, type Submission } from './fence.js';
import { checkPreconditions } from './preconditions.js';
import { replay } from './replay.js';
import { stage, stageIfFirst, type Staged } from './stage.js';

type Answer = Enrolled | Refusal<'conflict' | 'precondition_failed'>;

/** So many attempts under one key were abandoned: each by a crash and a reaper, so this is never met in practice. */
const maxAttempts = 64;

/**
 * Enrolls an agent, or answers what this key enrolled before.
 * Invariant: the one commit point is `agent.enrolled` as the first event of the stream that the key names. What was sealed
 * becomes active by the reaction on that event (docs/flows.md#enroll-agent).
 */
export async function enroll(request: Enrollment, context: EnrollmentContext): Promise<Answer> {
  const { idempotency } = context.command;
  if (!idempotency) throw new Error('The gateway lets no enrollment pass without an idempotency key.');
  const submission = fenceOf(context.caller, idempotency, request.replayMode);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const agentId = agentIdOf(idempotency.key, attempt);
    const answer = await context.firstEvents.runExclusive(streamOf(agentId), () =>
      attemptOnce(agentId, submission, request, context),
    );
    if (answer !== 'abandoned') return answer;
  }
  return idempotencyCollision();
}

const streamOf = (agentId: string): string => `${agents.agent.category}-${agentId}`;

async function attemptOnce(
  agentId: string,
  submission: Submission,
  request: Enrollment,
  context: EnrollmentContext,
): Promise<Answer | 'abandoned'> {
  const { firstEvents, credentials } = context;
  const stream = streamOf(agentId);
  let staged = await stageIfFirst(agentId, request, context);
  if (!staged) {
    const first = await firstEvents.read(stream);
    if (first) return replay(first, submission, context);
    const refusal = await checkPreconditions(request, context);
    if (refusal) return refusal;
    staged = await stage(agentId, request, context);
  }
  const data = enrolledData(agentId, submission, request, context, staged);
  const decision = agents.enroll({ status: 'absent' }, data);
  const [event] = isRefusal(decision) ? [] : decision;
  // Why a random id: what was sealed differs from run to run, so the store must never take one run's event for another's.
  const enrolledAt = event && (await firstEvents.appendFirst(stream, { ...event, id: randomUUID() }));
  if (enrolledAt !== undefined) return { ...data, enrolledAt };
  if (staged) await credentials.discard(staged);
  const other = await firstEvents.read(stream);
  if (!other) throw new Error('The stream that was taken is empty.');
  return replay(other, submission, context);
}

const enrolledData = (
  agentId: string,
  submission: Submission,
  { harness, provider, model, name, persona, credential }: Enrollment,
  { caller: { userId: ownerId } }: EnrollmentContext,
  staged: Staged | undefined,
): Omit<Enrolled, 'enrolledAt'> => ({
  agentId,
  ownerId,
  harness,
  provider,
  model,
  name,
  persona,
  credentialMode: credential.mode,
  credentialId: credentialIdOf(ownerId, provider),
  credentialVersionId: staged?.id ?? null,
  fence: { ...submission, outcome: agentId },
});
