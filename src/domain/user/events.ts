import type { EventOf } from '../kernel/aggregate.js';
import { personalText } from '../kernel/personal.js';
import { roles } from '../kernel/roles.js';
import type { Upcasts } from '../kernel/upcast.js';
import { z } from 'zod';

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const userEvents = {
  'user.created': z.object({
    userId: z.string(),
    name: personalText(),
    role: z.enum(roles),
    workspaceId: z.string(),
    keyId: z.string(),
  }),
  'user.erased': z.object({ userId: z.string() }),
};

export type UserEvent = EventOf<typeof userEvents>;

export const userUpcasts: Upcasts = {};
