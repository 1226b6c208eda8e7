import { createCipheriv, createDecipheriv } from 'node:crypto';
import { newNonce } from '../nonces.js';

export const tagBytes = 16;

/** What AES-256-GCM gives: it opens only under the same key and with the same context. */
export interface Sealed {
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

/** Seals under a fresh random 96-bit nonce. */
export function seal(key: Buffer, plain: Buffer, context: string): Sealed {
  const nonce = newNonce();
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return { nonce, ciphertext, tag: cipher.getAuthTag() };
}

/** Throws when the key or the context is another one, or a byte was changed. */
export function unseal(key: Buffer, { nonce, ciphertext, tag }: Sealed, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
}
