import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { PersonalDataKey } from '../../application/ports/personal-data-keys.js';
import { newNonce, nonceBytes } from '../nonces.js';

const algorithm = 'aes-256-gcm';
const tagBytes = 16;

/** AES-256-GCM under a fresh random nonce: nonce, ciphertext, tag. It opens only with the same `context`. */
function encrypt(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = newNonce();
  const cipher = createCipheriv(algorithm, key, nonce);
  cipher.setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer {
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}

const form = 'v1.';

/** The sealed form is `v1.` and base64url of nonce, ciphertext and tag. */
export const personalDataKey = (dataKey: Buffer): PersonalDataKey => ({
  seal: (plain, context) => form + encrypt(dataKey, Buffer.from(plain), context).toString('base64url'),
  open(sealed, context) {
    if (!sealed.startsWith(form)) throw new Error('The sealed text is of a form that this version does not know.');
    return decrypt(dataKey, Buffer.from(sealed.slice(form.length), 'base64url'), context).toString('utf8');
  },
});

export const newDataKey = (): Buffer => randomBytes(32);

/** Identifies the KEK that wrapped a key, and reveals nothing else about it. */
export const kekIdOf = (kek: Buffer): string =>
  createHmac('sha256', kek).update('palimpsest kek id').digest('hex').slice(0, 16);

const wrapContext = (ownerId: string, kekId: string): string => `subject key ${ownerId} ${kekId}`;

/** Wraps a data key under the KEK; it unwraps only for the owner it was made for. */
export const wrap = (kek: Buffer, dataKey: Buffer, ownerId: string): Buffer =>
  encrypt(kek, dataKey, wrapContext(ownerId, kekIdOf(kek)));

export const unwrap = (kek: Buffer, wrapped: Buffer, ownerId: string): Buffer =>
  decrypt(kek, wrapped, wrapContext(ownerId, kekIdOf(kek)));
