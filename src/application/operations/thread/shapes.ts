import { z } from 'zod';
import { id, metadata, time } from '../../kernel/schemas.js';

export const threadShape = z.object({
  id: id('thread'),
  title: z.string().nullable(),
  metadata: metadata(),
  ownerId: id('user'),
  scratchpadId: id('scratchpad').nullable(),
  createdAt: time(),
  updatedAt: time(),
});
