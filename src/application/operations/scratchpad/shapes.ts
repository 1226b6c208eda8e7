import { z } from 'zod';
import { entryKinds } from '../../../domain/scratchpad/entry-kinds.js';
import { author, id, metadata, time } from '../../kernel/schemas.js';

export const scratchpadShape = z.object({
  id: id('scratchpad'),
  threadId: id('thread'),
  ownerId: id('user'),
  metadata: metadata(),
  contentRevision: z.number().int(),
  entryCount: z.number().int(),
  createdAt: time(),
  updatedAt: time(),
});

export const contentShape = z.object({
  scratchpadId: id('scratchpad'),
  content: z.string(),
  revision: z.number().int(),
  bytes: z.number().int(),
  sha256: z.string(),
  updatedAt: time(),
  lost: z
    .literal(true)
    .optional()
    .meta({ description: 'The text of this revision was lost; what is shown is what was left of an earlier one.' }),
});

export const entryShape = z.object({
  id: id('entry'),
  scratchpadId: id('scratchpad'),
  index: z.number().int(),
  kind: z.enum(entryKinds),
  content: z.string(),
  fields: z.record(z.string(), z.unknown()),
  author: author(),
  bytes: z.number().int(),
  sha256: z.string(),
  createdAt: time(),
});

export const clearedShape = z.object({
  scratchpadId: id('scratchpad'),
  scope: z.enum(['content', 'entries', 'all']),
  cleared: z.literal(true),
  count: z.number().int(),
});

export const scratchpadInput = z.strictObject({ scratchpadId: id('scratchpad') });
