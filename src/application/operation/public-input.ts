import { z } from 'zod';
import type { Operation } from './operation.js';

/** The shared fields of an input that belong to the envelope and not to the operation. */
export const envelopeFields = ['idempotencyKey', 'correlationId'] as const;

/** The input as callers send it: the operation's own fields and the envelope's. For API documents and tool lists. */
export const publicInput = ({ input, kind, requiresIdempotencyKey }: Operation): z.ZodObject => {
  const own = (field: string) => field in input.shape;
  return input.extend({
    ...(kind === 'command' &&
      !own('idempotencyKey') && {
        idempotencyKey: requiresIdempotencyKey ? idempotencyKey : idempotencyKey.optional(),
      }),
    ...(!own('correlationId') && { correlationId: correlationId.optional() }),
  });
};

const idempotencyKey = z
  .uuid()
  .meta({ description: 'The same key makes a retry harmless: the recorded outcome is answered again.' });
const correlationId = z.uuid().meta({ description: 'Returned in the reply and in every event of the command.' });
