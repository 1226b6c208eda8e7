import { z } from 'zod';
import { publicInput } from '../../../application/operation/public-input.js';
import type { Operation } from '../../../application/operation/operation.js';

export type Schema = z.core.JSONSchema.JSONSchema;

/** The fields that an operation takes, without those that stand in its path. */
export function inputSchema(operation: Operation, named: readonly string[]): Schema {
  const { properties = {}, required = [], ...rest } = jsonSchema(publicInput(operation), 'input');
  const isFree = (name: string) => !named.includes(name);
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isFree(name))),
    ...(required.some(isFree) && { required: required.filter(isFree) }),
  };
}

/** What an operation answers; of a list or a stream, one item. */
export const outputSchema = (operation: Operation): Schema => jsonSchema(operation.output, 'output');

/** A schema as clients see it. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // Answers may gain fields: a client that refuses unknown ones would break.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return converted;
}

/** Moves the definitions inside a schema to the document's components, where their references must point. */
export function lifted(name: string, schema: Schema): Readonly<Record<string, Schema>> {
  const { $defs = {}, ...main } = schema;
  const all = { [name]: main, ...Object.fromEntries(Object.entries($defs).map(([key, def]) => [name + key, def])) };
  const text = JSON.stringify(all).replaceAll('"#/$defs/', `"#/components/schemas/${name}`);
  // The same schemas, with other references.
  return JSON.parse(text) as Record<string, Schema>;
}
