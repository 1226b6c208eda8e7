import { randomBytes } from 'node:crypto';
import { Secret } from '../../application/kernel/secret.js';
import { Unsealable, type VersionRef } from '../../application/ports/credential-vault.js';
import { seal, unseal, type Sealed } from './aes-gcm.js';
import { KeyUnavailable, type Kms, type WrappedKey } from './kms.js';

/** How values are sealed now; an unknown form is refused. */
const sealedForm = 2;

/** A sealed row by everything that names it. */
export interface RowIdentity extends VersionRef {
  readonly credentialId: string;
}

export interface SealedValue extends Sealed {
  readonly form: number;
  readonly wrapped: WrappedKey;
}

/**
 * What is authenticated with a value and with its data key, by form: sealed bytes that were moved to another row, or whose
 * row was given another name, do not open. These are what is stored: add a form, never edit one.
 */
const contexts: Readonly<Record<number, (row: RowIdentity) => readonly string[]>> = {
  1: ({ ownerId, provider, id }) => ['provider credential', ownerId, provider, id],
  2: (row) => ['provider credential 2', row.ownerId, row.provider, row.id, row.agentId, row.credentialId],
};

/** Throws Unsealable for a form that this version does not know. */
function contextOf(row: RowIdentity, form: number): string {
  const parts = contexts[form]?.(row);
  if (!parts) throw new Unsealable();
  return parts.map(encodeURIComponent).join('|');
}

/** Seals a value under a data key of its own, which the KMS wraps. */
export async function sealValue(row: RowIdentity, value: Secret, kms: Kms): Promise<SealedValue> {
  const context = contextOf(row, sealedForm);
  const dataKey = randomBytes(32);
  try {
    const sealed = seal(dataKey, Buffer.from(value.reveal()), context);
    return { form: sealedForm, ...sealed, wrapped: await kms.wrap(dataKey, context) };
  } finally {
    dataKey.fill(0);
  }
}

/** Throws Unsealable. */
export async function openValue(row: RowIdentity, sealed: SealedValue, kms: Kms): Promise<Secret> {
  const context = contextOf(row, sealed.form);
  const dataKey = await unwrapped(sealed.wrapped, context, kms);
  try {
    return new Secret(unseal(dataKey, sealed, context).toString('utf8'));
  } catch (cause) {
    throw new Unsealable({ cause });
  } finally {
    dataKey.fill(0);
  }
}

/** The same data key under the KMS's current KEK; the value is not touched, and keeps its form. */
export async function rewrap(
  row: RowIdentity,
  { form, wrapped }: Pick<SealedValue, 'form' | 'wrapped'>,
  kms: Kms,
): Promise<WrappedKey> {
  const context = contextOf(row, form);
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
