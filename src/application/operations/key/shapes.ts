import { z } from 'zod';
import { id, time } from '../../schemas.js';

export const keyShape = z.object({
  id: id('key'),
  name: z.string(),
  display: z.string(),
  scopes: z.array(z.string()),
  workspaceId: id('workspace'),
  createdAt: time(),
  expiresAt: time().nullable(),
  lastUsedAt: time().nullable(),
});
