import { z } from 'zod';
import type { EntryKind } from '../../../domain/scratchpad/entry-kinds.js';
import { id, name, text } from '../../kernel/schemas.js';

const source = name(2000).meta({ description: 'Where it was found: an address, a document, a person.' });

/** The declared fields of each kind of entry. */
export const entryFields = {
  note: z.strictObject({}),
  strategy: z.strictObject({}),
  claim: z.strictObject({
    subject: name(500).meta({ description: 'What is worked on; one claimer at a time.' }),
    leaseSeconds: z.number().int().min(1).max(3600).default(300),
  }),
  verified: z.strictObject({ source }),
  unverified: z.strictObject({ source: source.optional() }),
  failed_source: z.strictObject({ source, reason: text(500).optional() }),
  tombstone: z.strictObject({ entryId: id('entry').meta({ description: 'The entry that no longer holds.' }) }),
  directive: z.strictObject({
    to: name(200).optional().meta({ description: 'Whom it is for; without it, everyone.' }),
  }),
} satisfies Readonly<Record<EntryKind, z.ZodObject>>;
