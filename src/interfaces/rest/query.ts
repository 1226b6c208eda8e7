import { z } from 'zod';
import { nameable } from '../../application/kernel/validation.js';
import type { Issue } from '../../domain/kernel/refusal.js';

export type Query = { readonly fields: Record<string, unknown> } | { readonly issue: Issue };

/** Fields of an input that are not text, by the type that their words stand for. */
export type QueryTypes = ReadonlyMap<string, 'number' | 'boolean'>;

export function queryTypesOf(input: z.ZodObject): QueryTypes {
  const types = new Map<string, 'number' | 'boolean'>();
  for (const [name, schema] of Object.entries(input.shape)) {
    const { type } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    if (type === 'integer' || type === 'number') types.set(name, 'number');
    if (type === 'boolean') types.set(name, 'boolean');
  }
  return types;
}

/** The query part of a URL as fields. A field given twice is refused, never merged; broken escapes too. */
export function readQuery(url: string, types: QueryTypes): Query {
  const mark = url.indexOf('?');
  const fields: Record<string, unknown> = {};
  if (mark === -1) return { fields };
  for (const pair of url.slice(mark + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decoded(pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      return { issue: { param: nameable(name ?? ''), rule: 'must be percent-encoded UTF-8' } };
    }
    if (name === '__proto__') return { issue: { param: name, rule: 'unknown field' } };
    if (Object.hasOwn(fields, name)) return { issue: { param: nameable(name), rule: 'given more than once' } };
    fields[name] = meant(value, types.get(name));
  }
  return { fields };
}

/** Words that do not stand for the type stay words: the schema says what is wrong with them. */
function meant(value: string, type: 'number' | 'boolean' | undefined): unknown {
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
