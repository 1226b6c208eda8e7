import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { idPattern } from '../kernel/ids.js';

export interface KeyMaker {
  /** A new secret and what may be stored of it. The plain key is shown once. */
  make(keyId: string): { readonly key: string; readonly secretHash: string; readonly display: string };
}

/** `plm_<keyId>_<secret>`: 256 random bits, kept only as a keyed hash. */
export const makeKeyMaker = (pepper: Buffer): KeyMaker => ({
  make(keyId) {
    const secret = randomBytes(32).toString('base64url');
    return {
      key: `plm_${keyId}_${secret}`,
      secretHash: hashSecret(pepper, secret),
      display: `plm_${keyId.slice(0, 12)}…`,
    };
  },
});

export const hashSecret = (pepper: Buffer, secret: string): string =>
  createHmac('sha256', pepper).update(secret).digest('hex');

export const sameHash = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const keyForm = /^plm_(key_[0-9a-z]{26})_([A-Za-z0-9_-]{43})$/;
const keyIdForm = idPattern('key');

/** The parts of an API key, or undefined when it is not one. */
export function parseKey(token: string): { readonly keyId: string; readonly secret: string } | undefined {
  const [, keyId, secret] = keyForm.exec(token) ?? [];
  return keyId !== undefined && secret !== undefined && keyIdForm.test(keyId) ? { keyId, secret } : undefined;
}
