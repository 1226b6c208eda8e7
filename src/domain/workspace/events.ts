import { z } from 'zod';
import type { EventOf } from '../kernel/aggregate.js';
import { personalText } from '../kernel/personal.js';
import type { Upcasts } from '../kernel/upcast.js';

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const workspaceEvents = {
  'workspace.created': z.object({ workspaceId: z.string(), name: personalText(), ownerId: z.string() }),
  'workspace.member_added': z.object({ workspaceId: z.string(), userId: z.string() }),
  'workspace.member_removed': z.object({ workspaceId: z.string(), userId: z.string() }),
};
export type WorkspaceEvent = EventOf<typeof workspaceEvents>;

export const workspaceUpcasts: Upcasts = {};
