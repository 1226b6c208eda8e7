import { z } from 'zod';
import type { EventOf } from '../kernel/decider.js';
import { personalText } from '../kernel/personal.js';
import type { Upcasts } from '../kernel/upcast.js';

export const roles = ['member', 'auditor', 'admin'] as const;
export type Role = (typeof roles)[number];

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
