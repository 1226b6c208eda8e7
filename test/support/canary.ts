import { randomBytes } from 'node:crypto';

/** A value that is nowhere by chance, with characters that other forms write differently. */
export const makeCanary = (): string =>
  `${randomBytes(12).toString('base64url').replaceAll(/[-_]/g, 'x')}+/=%é${randomBytes(6).toString('hex')}`;

/** Every form that a canary could be written in: raw, hex, base64 at any offset, URL-encoded, reversed, its beginning. */
export function formsOf(canary: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(canary);
  const base64 = [0, 1, 2].map((offset) => {
    // What base64 makes of the canary inside a longer text, without the characters that its neighbours change.
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(offset === 0 ? 0 : offset + 1, -2);
  });
  return new Map([
    ['raw', canary],
    ['in JSON', JSON.stringify(canary).slice(1, -1)],
    ['hex', bytes.toString('hex')],
    ...base64.map((text, offset) => [`base64 at ${offset}`, text] as const),
    ...base64.map(
      (text, offset) => [`base64url at ${offset}`, text.replaceAll('+', '-').replaceAll('/', '_')] as const,
    ),
    ['URL-encoded', encodeURIComponent(canary)],
    ['reversed', Array.from(canary).reverse().join('')],
    ['its first 8 characters', canary.slice(0, 8)],
    ['the hex of its first 8', Buffer.from(canary.slice(0, 8)).toString('hex')],
  ]);
}

/** The forms of a canary that a text holds; PostgreSQL's dumps double backslashes, which no form has. */
export const foundIn = (text: string, canary: string): readonly string[] =>
  [...formsOf(canary)].filter(([, form]) => text.includes(form)).map(([name]) => name);
