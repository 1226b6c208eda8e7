import { z } from 'zod';
import { padRoles } from '../../../domain/kernel/roles.js';
import { id, time, uuidId } from '../../kernel/schemas.js';

export const keyShape = z.object({
  id: id('key'),
  name: z.string(),
  display: z.string(),
  scopes: z.array(z.string()),
  workspaceId: id('workspace'),
  createdAt: time(),
  expiresAt: time().nullable(),
  lastUsedAt: time().nullable(),
  pad: z
    .object({ scratchpadId: id('scratchpad'), role: z.enum(padRoles) })
    .nullable()
    .meta({ description: 'The one scratchpad that the key is bound to, and the role it acts in there.' }),
  agentId: uuidId().nullable().meta({ description: 'The agent that whoever holds the key acts as.' }),
});
