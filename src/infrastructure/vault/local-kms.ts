import { nonceBytes } from '../nonces.js';
import { seal, tagBytes, unseal } from './aes-gcm.js';
import type { KekRing } from './kek-ring.js';
import { KeyUnavailable, type Kms } from './kms.js';

export const localKmsName = 'local';

/** Wraps under the installation's own KEKs: nonce, ciphertext and tag, with the KEK's number authenticated. */
export function makeLocalKms({ current, all }: KekRing): Kms {
  const contextFor = (kek: number, context: string) => `data key/${localKmsName}/${kek}/${context}`;
  return {
    name: localKmsName,
    current: async () => current.number,
    has: async ({ kms, kek }) => kms === localKmsName && all.some(({ number }) => number === kek),
    async wrap(dataKey, context) {
      const { nonce, ciphertext, tag } = seal(current.key, dataKey, contextFor(current.number, context));
      return { kms: localKmsName, kek: current.number, bytes: Buffer.concat([nonce, ciphertext, tag]) };
    },
    async unwrap({ kms, kek, bytes }, context) {
      const found = kms === localKmsName ? all.find(({ number }) => number === kek) : undefined;
      if (!found) throw new KeyUnavailable(kms, kek);
      const parts = {
        nonce: bytes.subarray(0, nonceBytes),
        ciphertext: bytes.subarray(nonceBytes, -tagBytes),
        tag: bytes.subarray(-tagBytes),
      };
      try {
        return unseal(found.key, parts, contextFor(kek, context));
      } catch (cause) {
        throw new KeyUnavailable(kms, kek, { cause });
      }
    },
  };
}
