import { z } from 'zod';
import type { EventOf } from '../kernel/aggregate.js';
import { personal, personalText } from '../kernel/personal.js';
import type { Upcasts } from '../kernel/upcast.js';

/** Where an agent's credential comes from: one that its owner keeps already, or a value taken in with the enrollment. */
export const credentialModes = ['reference', 'intake'] as const;

/**
 * Who may have a recorded outcome answered again. An enrollment is always `actor-bound`; `shared` is here so that a record
 * of another mode does not pass for this one.
 */
export const replayModes = ['actor-bound', 'shared'] as const;

/** What was submitted first under an idempotency key, so that a retry can be distinguished from another request. */
const fenceSchema = z.object({
  operation: z.string(),
  key: z.string(),
  principal: z.string(),
  scope: z.string(),
  /** Hex SHA-256 of the canonical request, in which no secret is. */
  digest: z.string(),
  digestForm: z.number().int(),
  replayMode: z.enum(replayModes),
  /** Id of the agent that came of it. */
  outcome: z.string(),
});
export type Fence = Readonly<z.output<typeof fenceSchema>>;

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const agentEvents = {
  'agent.enrolled': z.object({
    agentId: z.string(),
    ownerId: z.string(),
    harness: z.string(),
    provider: z.string(),
    model: z.string(),
    name: personalText(),
    persona: personal(z.string().nullable(), '[erased]'),
    credentialMode: z.enum(credentialModes),
    credentialId: z.string(),
    /** The sealed version that was taken in; null for a reference. */
    credentialVersionId: z.string().nullable(),
    fence: fenceSchema,
  }),
  /** A recorded outcome was answered again; nothing was changed by it. */
  'agent.enrollment_replayed': z.object({
    agentId: z.string(),
    principal: z.string(),
    fence: z.object({ operation: z.string(), key: z.string(), eventId: z.string() }),
  }),
  /** Takes the place of `agent.enrolled`: the process that began this enrollment can no longer finish it. */
  'agent.enrollment_abandoned': z.object({ agentId: z.string(), credentialVersionId: z.string() }),
  'agent.retired': z.object({ agentId: z.string(), reason: z.enum(['owner_erased']) }),
};
export type AgentEvent = EventOf<typeof agentEvents>;

export const agentUpcasts: Upcasts = {};
