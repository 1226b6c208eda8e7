import { hkdfSync } from 'node:crypto';

/** Keys of this installation for one purpose each, all derived from the KEK (HKDF-SHA-256, RFC 5869). */
export const purposeKey = (kek: Buffer, purpose: 'api keys' | 'cursors' | 'database role'): Buffer =>
  Buffer.from(hkdfSync('sha256', kek, Buffer.alloc(0), `palimpsest ${purpose}`, 32));
