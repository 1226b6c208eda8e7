import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { OwnerErased } from '../../application/faults/errors.js';
import type { PersonalDataKey, PersonalDataKeys } from '../../application/ports/personal-data-keys.js';

const nonceBytes = 12;
const tagBytes = 16;
const mark = 'v1.';

/** Data keys that die with the process. The sealing itself is the real one. */
export class MemoryPersonalDataKeys implements PersonalDataKeys {
  private readonly keys = new Map<string, PersonalDataKey>();
  private readonly erased = new Set<string>();

  sealingKey(ownerId: string): Promise<PersonalDataKey> {
    if (this.erased.has(ownerId)) return Promise.reject(new OwnerErased());
    const key = this.keys.get(ownerId) ?? sealingKey(randomBytes(32));
    this.keys.set(ownerId, key);
    return Promise.resolve(key);
  }

  openingKeys(ownerIds: ReadonlySet<string>): Promise<ReadonlyMap<string, PersonalDataKey>> {
    return Promise.resolve(new Map([...this.keys].filter(([ownerId]) => ownerIds.has(ownerId))));
  }

  destroy(ownerId: string): Promise<void> {
    this.keys.delete(ownerId);
    this.erased.add(ownerId);
    return Promise.resolve();
  }
}

/** AES-256-GCM; the context is authenticated, so that a sealed text opens only where it was sealed. */
const sealingKey = (secret: Buffer): PersonalDataKey => ({
  seal(plain, context) {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(Buffer.from(context));
    const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return mark + Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url');
  },
  open(sealed, context) {
    if (!sealed.startsWith(mark)) throw new Error('Sealed in a form that is not known.');
    const bytes = Buffer.from(sealed.slice(mark.length), 'base64url');
    const cipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-tagBytes));
    return cipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + cipher.final('utf8');
  },
});
