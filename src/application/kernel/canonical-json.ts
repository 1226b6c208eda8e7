import { hash } from 'node:crypto';

/** JSON in one canonical form (RFC 8785): members sorted by UTF-16 code units, no white space. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

export const sha256 = (text: string): string => hash('sha256', text);

/** Hex SHA-256 of a value's canonical form. */
export const digestOf = (value: unknown): string => sha256(canonicalJson(value));
