import { types } from 'pg';

/** Reads one column of a row from its text form. */
export type ReadValue = (text: string) => unknown;

const timestamptz = 1184;

/** The driver's own table: it takes any type's number, though its types list only the built-in ones, and answers `any`. */
const parserOf = types.getTypeParser as (typeId: number, format: 'text') => ReadValue;

/** How a column of this type is read: bigint and numeric as text, timestamps as RFC 3339, json as its value. */
export const readerOf = (typeId: number): ReadValue => {
  if (typeId === timestamptz) return readTimestamp;
  return parserOf(typeId, 'text');
};

const timestampForm = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/;

/** `2026-01-02 03:04:05.6+00`, as a session in UTC writes it, as `2026-01-02T03:04:05.600Z`. */
function readTimestamp(text: string): string {
  const [, day, time, fraction = ''] = timestampForm.exec(text) ?? [];
  if (day === undefined || time === undefined) return text;
  return `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

/** A parameter in the form that the protocol takes: text, bytes, or null. Objects become JSON, lists become SQL arrays. */
export function writeValue(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return writeArray(value);
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new TypeError(`A ${typeof value} cannot be stored.`);
}

const writeArray = (items: readonly unknown[]): string => `{${items.map(writeItem).join(',')}}`;

function writeItem(item: unknown): string {
  if (Array.isArray(item)) return writeArray(item);
  const written = writeValue(item);
  if (written === null) return 'NULL';
  const text = Buffer.isBuffer(written) ? `\\x${written.toString('hex')}` : written;
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
