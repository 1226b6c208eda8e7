import { z } from 'zod';
import type { Operation } from './operation.js';
import { publicInput } from './public-input.js';

export type Schema = z.core.JSONSchema.JSONSchema;

/** The input of an operation as callers send it, without the fields named in `without` (those of a path, for example). */
export function inputSchema(operation: Operation, without: readonly string[] = []): Schema {
  const { properties = {}, required = [], ...rest } = jsonSchema(publicInput(operation), 'input');
  const isFree = (name: string) => !without.includes(name);
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isFree(name))),
    ...(required.some(isFree) && { required: required.filter(isFree) }),
  };
}

/** The answer of an operation; of a list, a stream or events, one item. */
export const outputSchema = (operation: Operation): Schema => jsonSchema(operation.output, 'output');

/**
 * A zod schema as JSON Schema, as clients see it. Why answers allow unknown fields: they may gain some, and a client that
 * refuses those would break.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return converted;
}

/** The `page` of a list's answer. */
export const pageSchema: Schema = {
  type: 'object',
  properties: {
    nextCursor: { type: ['string', 'null'], description: 'Null on the last page.' },
    lost: {
      type: 'array',
      description: 'Numbers of this page whose items are known to be lost.',
      items: {
        type: 'object',
        properties: { from: { type: 'integer' }, to: { type: 'integer' } },
        required: ['from', 'to'],
      },
    },
  },
  required: ['nextCursor'],
};
