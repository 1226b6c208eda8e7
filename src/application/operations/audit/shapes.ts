import { z } from 'zod';
import { id, position, time } from '../../kernel/schemas.js';

export const auditFilter = {
  stream: z.string().max(200).optional(),
  type: z.string().max(100).optional(),
  correlationId: z.uuid().optional(),
  actor: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'Id of the user, agent or part of the system that acted.' }),
  from: position().optional().meta({ description: 'First position, inclusive.' }),
  to: position().optional().meta({ description: 'Last position, inclusive.' }),
  tenant: id('user')
    .optional()
    .meta({ description: 'Auditors and administrators: the tenant to read; without it, every tenant.' }),
};

export const auditEventShape = z.object({
  position: z.string(),
  stream: z.string(),
  revision: z.number().int(),
  type: z.string(),
  id: z.string(),
  actor: z.record(z.string(), z.unknown()),
  ownerId: z.string(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  at: time(),
  data: z.record(z.string(), z.unknown()),
  hash: z.string().meta({ description: "The tenant's hash chain up to this event." }),
});

/** An exported event also carries what is needed to check it offline: the stored form, whose digest is chained. */
export const exportedEventShape = auditEventShape.extend({
  metadata: z.record(z.string(), z.unknown()),
  digest: z.string(),
});
