import { randomBytes } from 'node:crypto';
import { Secret } from '../../application/secret.js';
import { Unsealable, type VersionRef } from '../../application/vault.js';
import { seal, unseal, type Sealed } from './aes-gcm.js';
import { KeyUnavailable, type Kms, type WrappedKey } from './kms.js';

/** How a value is sealed; a later form is opened beside it, an unknown one is refused. */
export const sealedForm = 1;

export interface SealedValue extends Sealed {
  readonly form: number;
  readonly wrapped: WrappedKey;
}

/** The row's whole identity: sealed bytes that were moved to another row, or whose row was given to another owner, do not open. */
const contextOf = ({ ownerId, provider, id }: VersionRef): string =>
  ['provider credential', ownerId, provider, id].map(encodeURIComponent).join('|');

/** Seals a value under a data key of its own, which the KMS wraps. */
export async function sealValue(version: VersionRef, value: Secret, kms: Kms): Promise<SealedValue> {
  const context = contextOf(version);
  const dataKey = randomBytes(32);
  try {
    const sealed = seal(dataKey, Buffer.from(value.reveal()), context);
    return { form: sealedForm, ...sealed, wrapped: await kms.wrap(dataKey, context) };
  } finally {
    dataKey.fill(0);
  }
}

/** Throws Unsealable. */
export async function openValue(version: VersionRef, sealed: SealedValue, kms: Kms): Promise<Secret> {
  if (sealed.form !== sealedForm) throw new Unsealable();
  const context = contextOf(version);
  const dataKey = await unwrapped(sealed.wrapped, context, kms);
  try {
    return new Secret(unseal(dataKey, sealed, context).toString('utf8'));
  } catch (cause) {
    throw new Unsealable({ cause });
  } finally {
    dataKey.fill(0);
  }
}

/** The same data key under the KMS's current KEK; the value is not touched. */
export async function rewrap(version: VersionRef, wrapped: WrappedKey, kms: Kms): Promise<WrappedKey> {
  const context = contextOf(version);
  const dataKey = await unwrapped(wrapped, context, kms);
  try {
    return await kms.wrap(dataKey, context);
  } finally {
    dataKey.fill(0);
  }
}

async function unwrapped(wrapped: WrappedKey, context: string, kms: Kms): Promise<Buffer> {
  try {
    return await kms.unwrap(wrapped, context);
  } catch (cause) {
    if (cause instanceof KeyUnavailable) throw new Unsealable({ cause });
    throw cause;
  }
}
