import { z } from 'zod';

/** The actor of an event: a person's key, an agent, or the system itself (reactions, workers). */
export const actorSchema = z.object({
  type: z.enum(['user', 'agent', 'system']),
  id: z.string(),
  keyId: z.string().optional(),
  /** The agent that the key acts as; `id` is still its owner's user id. */
  agentId: z.string().optional(),
});
export type Actor = Readonly<z.output<typeof actorSchema>>;

/**
 * The metadata of every event. `$correlationId` and `$causationId` follow the event store's own convention.
 * `ownerId` is the tenant; `at` is RFC 3339 UTC with milliseconds; `schemaVersion` counts from 1.
 */
export const metadataSchema = z.object({
  $correlationId: z.string(),
  $causationId: z.string().optional(),
  ownerId: z.string(),
  actor: actorSchema,
  at: z.string(),
  schemaVersion: z.number().int().positive(),
  idempotency: z.object({ key: z.string(), operation: z.string(), digest: z.string() }).optional(),
});
export type EventMetadata = Readonly<z.output<typeof metadataSchema>>;
