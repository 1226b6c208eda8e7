import { hash, randomFillSync } from 'node:crypto';

/** Every kind of id there is. Agents, correlation ids and idempotency keys are plain uuids. */
export const idPrefixes = {
  user: 'user',
  workspace: 'ws',
  key: 'key',
  thread: 'thread',
  message: 'msg',
  scratchpad: 'sp',
  entry: 'ent',
  credential: 'cred',
  job: 'job',
  connector: 'conn',
  lens: 'lens',
  research: 'run',
  call: 'call',
} as const;

export type IdKind = keyof typeof idPrefixes;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The form of an id of a kind: prefix, underscore, 26 lower-case Crockford characters. */
export const idPattern = (kind: IdKind): RegExp => new RegExp(`^${idPrefixes[kind]}_[0-7][${alphabet}]{25}$`);

/** 128 bits as 26 Crockford characters. */
function crockford(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 2; // 26 characters have two bits more than there are; these come first, and are zero.
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5;) text += alphabet.charAt((held >> (bits -= 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return text;
}

/** A fresh id: 48 bits of milliseconds, then 80 random bits. */
export function newId(kind: IdKind, now: Date): string {
  const bytes = random16();
  bytes.writeUIntBE(now.getTime(), 0, 6);
  return `${idPrefixes[kind]}_${crockford(bytes)}`;
}

/** The id that the same command always makes: a retry by any process makes the same thing once (docs/flows.md#idempotency). */
export const derivedId = (kind: IdKind, ...name: readonly string[]): string =>
  `${idPrefixes[kind]}_${crockford(uuidBytes(name))}`;

/** A uuid v5 (RFC 9562) of the parts, in this product's own namespace. */
export function derivedUuid(...name: readonly string[]): string {
  const hex = uuidBytes(name).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const namespace = Buffer.from('6f2d1a0c9b5e4c7f8a3b1d2e4f506172', 'hex');

function uuidBytes(name: readonly string[]): Buffer {
  // Parts are joined by a character that no part holds, so ('a', 'bc') and ('ab', 'c') differ.
  const named = Buffer.concat([namespace, Buffer.from(name.join('\u0000'))]);
  const bytes = hash('sha1', named, 'buffer').subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes;
}

/** Random bytes are drawn in blocks: a call to the system for each id costs more than the id. Each byte is used once. */
const pool = Buffer.alloc(4096);
let drawn = pool.length;

function random16(): Buffer {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += 16;
  return Buffer.from(pool.subarray(drawn - 16, drawn));
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A uuid as RFC 9562 writes it, lower-case, with a version and the standard variant: not nil, not max. */
export const isUuid = (text: string): boolean => uuidForm.test(text);

/**
 * A uuid whose bits were drawn at random (versions 4 and 7), as keys must be that are unique among all tenants: one that
 * can be guessed could be taken before its time. Fewer than five different digits are no chance's work.
 */
export const isRandomUuid = (text: string): boolean =>
  isUuid(text) && (text[14] === '4' || text[14] === '7') && new Set(text.replaceAll('-', '')).size >= 5;
