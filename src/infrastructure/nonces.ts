import { randomFillSync } from 'node:crypto';

/** Bytes of the nonce that AES-GCM takes (96 bits). */
export const nonceBytes = 12;

const pool = Buffer.alloc(nonceBytes * 341);
let used = pool.length;

/**
 * A fresh random nonce. Many are made at once, because asking for random bytes costs more than sealing a short text;
 * nonces are stored in the clear, so nothing is lost by keeping the next ones in memory. Keys are not made here.
 */
export function newNonce(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const nonce = Buffer.from(pool.subarray(used, used + nonceBytes));
  used += nonceBytes;
  return nonce;
}
