import type { Schema } from '../../application/operation/json-schema.js';

/** One value of an input that can be given by a flag: `--credential.mode` is the path `credential`, `mode`. */
export interface Field {
  readonly path: readonly string[];
  readonly schema: Schema;
  readonly required: boolean;
  /** Refused as an argument: other users of a machine see those, and shells write them down. */
  readonly secret: boolean;
}

/** Every field of an input, those inside objects too. */
export function fieldsOf(schema: Schema, path: readonly string[] = []): readonly Field[] {
  const fields = new Map<string, Field>();
  for (const variant of variantsOf(schema)) {
    for (const [name, property] of Object.entries(variant.properties ?? {})) {
      if (typeof property !== 'object') continue;
      const at = [...path, name];
      const required = path.length === 0 && (variant.required ?? []).includes(name);
      const known = fields.get(at.join('.'));
      const merged = known ? { ...property, enum: choices(known.schema, property) } : property;
      fields.set(at.join('.'), { path: at, schema: merged, required, secret: isSecret(property) });
      for (const inner of fieldsOf(property, at)) fields.set(inner.path.join('.'), inner);
    }
  }
  return [...fields.values()];
}

/** The forms that an object may have: itself, or the members of a union. */
export const variantsOf = (schema: Schema): readonly Schema[] =>
  [schema, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].filter(
    (variant): variant is Schema => typeof variant === 'object' && variant.properties !== undefined,
  );

export const isSecret = ({ writeOnly, format }: Schema): boolean => writeOnly === true && format === 'password';

const choices = (...schemas: readonly Schema[]) =>
  schemas.flatMap((schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]));

/** What a flag's values mean; words that are not of the field's type stay words, and the server says what is wrong. */
export function valueOf(schema: Schema, words: readonly string[]): unknown {
  const types = [schema, ...(schema.anyOf ?? [])].map((one) => (typeof one === 'object' ? one.type : undefined));
  if (types.includes('array')) return words;
  const [word = ''] = words.slice(-1);
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(word)) return Number(word);
  if (types.includes('boolean') && (word === 'true' || word === 'false')) return word === 'true';
  if (!types.includes('string') && schema.const === undefined && schema.enum === undefined) return jsonOf(word);
  return word;
}

function jsonOf(word: string): unknown {
  try {
    return JSON.parse(word) as unknown;
  } catch {
    return word;
  }
}

/** Sets a value inside an object, making the objects on the way. */
export function setAt(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
    return;
  }
  const there = Object.hasOwn(target, name) ? target[name] : undefined;
  const inner: Record<string, unknown> = isObject(there) ? there : {};
  setAt(inner, rest, value);
  target[name] = inner;
}

/** Adds what has only one possible value in the form that was chosen: `mode: intake` leaves one `type`. */
export function completed(schema: Schema, value: Record<string, unknown>): void {
  for (const [name, property] of Object.entries(chosen(schema, value)?.properties ?? {})) {
    if (typeof property !== 'object') continue;
    const inner = Object.hasOwn(value, name) ? value[name] : undefined;
    if (isObject(inner)) completed(property, inner);
    else if (inner === undefined && property.const !== undefined) value[name] = property.const;
  }
}

/** Paths of the secrets that an input of this form has, and lacks. */
export function secretsLacking(
  schema: Schema,
  value: Record<string, unknown>,
  path: readonly string[] = [],
): readonly (readonly string[])[] {
  return Object.entries(chosen(schema, value)?.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property !== 'object') return [];
    const inner = Object.hasOwn(value, name) ? value[name] : undefined;
    if (isSecret(property)) return inner === undefined ? [[...path, name]] : [];
    return isObject(inner) ? secretsLacking(property, inner, [...path, name]) : [];
  });
}

/** The form whose fixed values are those that were given. */
const chosen = (schema: Schema, value: Readonly<Record<string, unknown>>): Schema | undefined =>
  variantsOf(schema).find((variant) =>
    Object.entries(variant.properties ?? {}).every(
      ([name, property]) =>
        typeof property !== 'object' ||
        property.const === undefined ||
        value[name] === property.const ||
        (value[name] === undefined && variantsOf(schema).length === 1) ||
        (value[name] === undefined && !discriminates(schema, name)),
    ),
  );

/** Has the field another fixed value in another form? */
const discriminates = (schema: Schema, name: string): boolean =>
  new Set(
    variantsOf(schema).flatMap(({ properties = {} }) => {
      const property = properties[name];
      return typeof property === 'object' && property.const !== undefined ? [property.const] : [];
    }),
  ).size > 1;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
