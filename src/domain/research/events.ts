import { z } from 'zod';
import type { EventOf } from '../kernel/aggregate.js';
import { personalText } from '../kernel/personal.js';
import type { Upcasts } from '../kernel/upcast.js';

/** Why a delegated call or a run failed. */
export const failures = [
  'deadline_exceeded',
  'turn_limit_reached',
  'conversation_too_long',
  'model_failed',
  'credential_missing',
  'agent_retired',
  'conversation_lost',
  'worker_lost',
  'cancelled',
] as const;
export type Failure = (typeof failures)[number];

/** Who or what cancelled a run. */
export const cancellations = ['asked', 'thread_deleted', 'scratchpad_deleted', 'owner_erased'] as const;
export type Cancellation = (typeof cancellations)[number];

const limitsSchema = z.object({
  /** Model turns of one conversation. */
  maxTurns: z.number().int(),
  /** Delegated calls of the whole run. */
  maxCalls: z.number().int(),
  deadlineSeconds: z.number().int(),
});
export type Limits = Readonly<z.output<typeof limitsSchema>>;

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const researchEvents = {
  'research.started': z.object({
    researchId: z.string(),
    ownerId: z.string(),
    threadId: z.string(),
    /** Resolved once, when the run starts; all its agents share it. */
    scratchpadId: z.string(),
    question: personalText(),
    supervisorAgentId: z.string(),
    /** The supervisor's own thread. */
    supervisorThreadId: z.string(),
    workerAgentIds: z.array(z.string()),
    limits: limitsSchema,
    deadlineAt: z.string(),
    /** On whose behalf the run acts: the key that started it, and its workspace. */
    keyId: z.string(),
    workspaceId: z.string(),
  }),
  /** A process works on the run from here on. The claims before it are void. */
  'research.claimed': z.object({ researchId: z.string(), attempt: z.number().int() }),
  'research.delegated': z.object({
    researchId: z.string(),
    callId: z.string(),
    agentId: z.string(),
    /** The call's own thread, which no other agent reads. */
    threadId: z.string(),
  }),
  'research.call_finished': z.object({
    researchId: z.string(),
    callId: z.string(),
    outcome: z.enum(['succeeded', 'failed']),
    failure: z.enum(failures).optional(),
  }),
  'research.completed': z.object({ researchId: z.string(), answer: personalText() }),
  'research.failed': z.object({ researchId: z.string(), reason: z.enum(failures) }),
  'research.cancelled': z.object({ researchId: z.string(), reason: z.enum(cancellations) }),
};
export type ResearchEvent = EventOf<typeof researchEvents>;

export const researchUpcasts: Upcasts = {};
