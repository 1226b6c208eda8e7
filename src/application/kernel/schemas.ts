import { z } from 'zod';
import { idPattern, type IdKind } from './ids.js';
import { Secret } from './secret.js';

/**
 * The building blocks of operation inputs and outputs. Limits of text are counted in code points unless they say bytes;
 * JSON Schema is made from these by zod's own converter, so they hold no transforms; only a secret is another thing
 * inside than outside.
 */

const ids = z.registry<{ readonly id: true }>();

/** An id of a kind. A malformed one in an input is answered like a missing resource, so that nothing tells them apart. */
export const id = (kind: IdKind): z.ZodString => {
  const schema = z.string().regex(idPattern(kind));
  ids.add(schema, { id: true });
  return schema;
};

/** A resource named by a plain uuid (agents). */
export const uuidId = (): z.ZodString => {
  const schema = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  ids.add(schema, { id: true });
  return schema;
};

/** Also of a field that may be left out. */
export const isIdSchema = (schema: unknown): boolean =>
  schema instanceof z.ZodOptional ? isIdSchema(schema.unwrap()) : schema instanceof z.ZodType && ids.has(schema);

/** RFC 3339 UTC with milliseconds. */
export const time = () => z.string().meta({ format: 'date-time' });

const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** Text of at most `max` code points. */
export const text = (max: number) =>
  z
    .string()
    .refine((value) => value.length <= max || codePoints(value) <= max, { error: `at most ${max} code points` })
    .meta({ maxLength: max });

/** A character that can be seen. */
const visible = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Mark}]/u;

const isVisible = (value: string): boolean => visible.test(value);
const toBeVisible = { error: 'must hold a visible character' };

/** A name: 1 to `max` code points, with something to see in it. */
export const name = (max = 200) => text(max).refine(isVisible, toBeVisible);

/** A name for programs: lower-case words of at most 64 characters. */
export const slug = () => z.string().regex(/^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/);

/** A name that is kept as it is meant: without the white space around it, in Unicode's composed form. */
export const trimmedName = (max = 200) =>
  z
    .string()
    .trim()
    .normalize('NFC')
    .refine((value) => value.length <= max || codePoints(value) <= max, { error: `at most ${max} code points` })
    .refine(isVisible, toBeVisible)
    .meta({ maxLength: max });

/** A secret of at most `max` printable characters: opaque as soon as it was checked. */
export const secret = (max: number) =>
  z
    .string()
    .refine((value) => value.length <= max, { error: `at most ${max} characters` })
    .refine((value) => /^\S(?:.*\S)?$/u.test(value) && !/\p{Control}/u.test(value), {
      error: 'must be printable characters without white space around them',
    })
    .refine(isVisible, toBeVisible)
    .meta({ maxLength: max, writeOnly: true, format: 'password' })
    .transform((value) => new Secret(value));

/** Text of at most `max` UTF-8 bytes. */
export const textOfBytes = (max: number) =>
  z
    .string()
    .refine((value) => value.length <= max && Buffer.byteLength(value) <= max, { error: `at most ${max} UTF-8 bytes` })
    .meta({ maxLength: max, description: `At most ${max} UTF-8 bytes.` });

/** Free key/value pairs: at most 32, keys of 1 to 64 and values of at most 512 code points. */
export const metadata = () =>
  z
    .record(z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/), text(512))
    .refine((value) => Object.keys(value).length <= 32, { error: 'at most 32 members' })
    .meta({ maxProperties: 32 });

export const author = () => z.object({ type: z.string(), id: z.string() });

/** The paging fields of every list: newest first unless asked otherwise. */
export const paging = {
  limit: z.number().int().min(1).max(100).default(20),
  cursor: z.string().max(512).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
};

/** A position in the log. */
export const position = () =>
  z
    .string()
    .regex(/^\d{1,19}$/)
    .refine((digits) => digits.padStart(19, '0') <= lastPosition, { error: 'must be a position' })
    .meta({ examples: ['1024'] });

const lastPosition = '9223372036854775807';

/** Where events go on, for those who cannot send the header `Last-Event-ID`; `0`: from the very first. */
export const lastEventId = () =>
  position().optional().meta({ description: 'Go on after this event; without it, from now on. `0`: from the first.' });
