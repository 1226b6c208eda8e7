import type { Schema } from '../../../application/operation/json-schema.js';

const uuid = '0199a7c2-5d3e-7f10-8a4b-6c2d9e8f1a35';
const byFormat: Readonly<Record<string, string>> = {
  uuid,
  'date-time': '2026-01-31T09:30:00.000Z',
  uri: 'https://example.com/page',
};

/** An example that fits a schema; `name` is the field it stands for. Optional fields are left out of inputs. */
export function sampleOf(schema: Schema | boolean | undefined, name: string, all: boolean): unknown {
  if (typeof schema !== 'object') return words(name);
  if (schema.examples) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return sampleOf(choices[0], name, all);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      return textOf(schema, name);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return [sampleOf(Array.isArray(schema.items) ? schema.items[0] : schema.items, name, all)];
    case 'object':
      return objectOf(schema, all);
    default:
      return words(name);
  }
}

function objectOf(schema: Schema, all: boolean): unknown {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => all || schema.required?.includes(name));
  const isRecord = schema.properties === undefined && schema.additionalProperties !== undefined;
  return isRecord
    ? { topic: sampleOf(schema.additionalProperties, 'topic', all) }
    : Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, name, all)]));
}

function textOf({ format, pattern }: Schema, name: string): string {
  // Ids say what they name in a prefix, and then have 26 characters (ids.ts).
  const prefix = pattern === undefined ? undefined : /^\^([a-z]+_)\[0-7\]/.exec(pattern)?.[1];
  if (prefix !== undefined) return `${prefix}01kxv3m8q2t6w9z4b7c1d5e0fg`;
  return byFormat[format ?? ''] ?? (pattern?.startsWith('^[0-9a-f]{8}(-') ? uuid : words(name));
}

/** `createdAt` → `created at`. */
const words = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
