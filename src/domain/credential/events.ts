import { z } from 'zod';
import type { EventOf } from '../kernel/aggregate.js';
import type { Upcasts } from '../kernel/upcast.js';

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const credentialEvents = {
  /** Another version took the place of an earlier one. Positions are those of the enrollments that brought them. */
  'credential.rotated': z.object({
    credentialId: z.string(),
    provider: z.string(),
    versionId: z.string(),
    previousVersionId: z.string(),
    agentId: z.string(),
    position: z.string(),
  }),
  /** Every version that an enrollment up to `upTo` (a position) brought is destroyed. */
  'credential.deleted': z.object({ credentialId: z.string(), provider: z.string(), upTo: z.string() }),
};
export type CredentialEvent = EventOf<typeof credentialEvents>;

export const credentialUpcasts: Upcasts = {};
