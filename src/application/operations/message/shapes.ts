import { z } from 'zod';
import { messageRoles } from '../../../domain/thread/events.js';
import { author, id, time } from '../../kernel/schemas.js';

export const messageShape = z.object({
  id: id('message'),
  threadId: id('thread'),
  index: z.number().int(),
  role: z.enum(messageRoles),
  content: z.string(),
  author: author(),
  createdAt: time(),
});
