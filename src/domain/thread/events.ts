import { authorSchema } from '../kernel/author.js';
import type { EventOf } from '../kernel/aggregate.js';
import { metadataValues } from '../kernel/metadata-values.js';
import { personal, personalText } from '../kernel/personal.js';
import type { Upcasts } from '../kernel/upcast.js';
import { z } from 'zod';

export const messageRoles = ['user', 'assistant', 'system', 'tool'] as const;

// These names and shapes are what the store keeps for ever: add beside them, never edit in place.
export const threadEvents = {
  'thread.created': z.object({
    threadId: z.string(),
    ownerId: z.string(),
    title: personal(z.string().nullable(), '[erased]'),
    metadata: personal(metadataValues, { erased: '[erased]' }),
  }),
  // What is absent stayed as it was.
  'thread.updated': z.object({
    threadId: z.string(),
    title: personal(z.string().nullable().optional(), '[erased]'),
    metadata: personal(metadataValues.optional(), { erased: '[erased]' }),
  }),
  'thread.scratchpad_attached': z.object({ threadId: z.string(), scratchpadId: z.string() }),
  'thread.scratchpad_detached': z.object({ threadId: z.string(), scratchpadId: z.string() }),
  /** Stored before the run itself begins, so that the deletion of the thread finds the run. */
  'thread.research_begun': z.object({ threadId: z.string(), researchId: z.string() }),
  'thread.deleted': z.object({ threadId: z.string(), scratchpadId: z.string().nullable() }),
  'message.appended': z.object({
    threadId: z.string(),
    messageId: z.string(),
    index: z.number().int(),
    role: z.enum(messageRoles),
    content: personalText(),
    author: authorSchema,
  }),
  'message.deleted': z.object({ threadId: z.string(), messageId: z.string() }),
};

export type ThreadEvent = EventOf<typeof threadEvents>;

export const threadUpcasts: Upcasts = {};
