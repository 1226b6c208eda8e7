import { randomUUID } from 'node:crypto';
import * as agents from '../../domain/agent/agent.js';
import { agentEvents } from '../../domain/agent/events.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import type { DecodedEvent } from '../event-sourcing/codec.js';
import { idempotencyCollision } from '../event-sourcing/recorded-outcome.js';
import type { Enrolled, EnrollmentContext } from './enrollment.js';
import type { Submission } from './fence.js';

/** Answers the outcome recorded under this key again, to the tenant that it belongs to; or that the attempt was abandoned. */
export async function replay(
  first: DecodedEvent,
  submission: Submission,
  { caller, firstEvents, aggregatesOf }: EnrollmentContext,
): Promise<Enrolled | Refusal<'conflict'> | 'abandoned'> {
  if (first.type === 'agent.enrollment_abandoned') return 'abandoned';
  if (first.type !== 'agent.enrolled') return idempotencyCollision();
  const data = agentEvents['agent.enrolled'].parse(first.data);
  const state = await aggregatesOf(first.metadata.ownerId).load(agents.agent, data.agentId);
  const mayRead = (ownerId: string) => ownerId === caller.userId || caller.role === 'admin';
  const decision = agents.replay(state, submission, mayRead, first.id);
  if (isRefusal(decision)) return idempotencyCollision();
  for (const event of decision) await firstEvents.recordReplay(first.stream, { ...event, id: randomUUID() });
  return { ...data, enrolledAt: first.at };
}
