import { z } from 'zod';
import { id, time } from '../../kernel/schemas.js';

export const workspaceShape = z.object({
  id: id('workspace'),
  name: z.string(),
  ownerId: id('user'),
  createdAt: time(),
});
