import { z } from 'zod';

/**
 * Marks a field of an event as personal text (names, titles, metadata, message text); it reads as `erased` once the key is
 * gone. Why: the codec seals it under the owner's data key, so destroying the key erases it everywhere it was stored
 * (docs/flows.md#personal-text).
 */
export const personal = <Schema extends z.ZodType>(schema: Schema, erased: z.output<Schema>): Schema => {
  erasedValues.add(schema, { erased });
  return schema;
};

const erasedValues = z.registry<{ erased: unknown }>();

/** The personal fields of an event schema, each with the value that it reads as after an erase. */
export const personalFields = (schema: z.ZodObject): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(schema.shape).flatMap(([field, type]) => {
      const mark = erasedValues.get(type);
      return mark ? [[field, mark.erased] as const] : [];
    }),
  );

/** Personal text, `[erased]` once its owner is. */
export const personalText = (): z.ZodString => personal(z.string(), '[erased]');
