import { z } from 'zod';
import type { EventOf } from '../kernel/aggregate.js';
import { personalText } from '../kernel/personal.js';
import type { Upcasts } from '../kernel/upcast.js';
import { padRoles, roles } from '../kernel/roles.js';

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const keyEvents = {
  'key.created': z.object({
    keyId: z.string(),
    userId: z.string(),
    workspaceId: z.string(),
    role: z.enum(roles),
    name: personalText(),
    scopes: z.array(z.string()),
    /** Keyed hash (HMAC-SHA-256, hex) of the secret; the secret itself is stored nowhere. */
    secretHash: z.string(),
    /** The first characters of the key, to distinguish keys in lists. */
    display: z.string(),
    expiresAt: z.string().nullable(),
    /** A key bound to one scratchpad acts there, and only there, in this role. */
    pad: z.object({ scratchpadId: z.string(), role: z.enum(padRoles) }).optional(),
    /** The owner's agent that callers with this key act as. */
    agentId: z.string().optional(),
  }),
  'key.revoked': z.object({ keyId: z.string() }),
};
export type KeyEvent = EventOf<typeof keyEvents>;

export const keyUpcasts: Upcasts = {};
