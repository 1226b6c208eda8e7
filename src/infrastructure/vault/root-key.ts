import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { StartupError } from '../startup-error.js';
import { KeyUnavailable, type Kms, type WrappedKey } from './kms.js';

export const rootKeyContext = 'root key';

/** Runs one statement on whatever connection there is. */
export type Query = (text: string, values: readonly unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;

const rootRow = z.object({ kms: z.string(), kek: z.coerce.number(), wrapped: z.instanceof(Buffer) });

/** The installation's root key, made at the first start. Throws StartupError when the KEK that wraps it is not there. */
export async function ensureRootKey(query: Query, kms: Kms): Promise<Buffer> {
  const stored = await storedRootKey(query);
  if (stored) return unwrapped(stored, kms);
  const made = await kms.wrap(randomBytes(32), rootKeyContext);
  await query('insert into palimpsest.root_key (kms, kek, wrapped) values ($1, $2, $3) on conflict do nothing', [
    made.kms,
    made.kek,
    made.bytes,
  ]);
  return unwrapped((await storedRootKey(query)) ?? made, kms);
}

export async function storedRootKey(query: Query): Promise<WrappedKey | undefined> {
  const { rows } = await query('select kms, kek, wrapped from palimpsest.root_key', []);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { kms, kek, wrapped } = rootRow.parse(row);
  return { kms, kek, bytes: wrapped };
}

async function unwrapped(stored: WrappedKey, kms: Kms): Promise<Buffer> {
  try {
    return await kms.unwrap(stored, rootKeyContext);
  } catch (fault) {
    if (fault instanceof KeyUnavailable) {
      throw new StartupError(
        `What is stored needs key encryption key ${stored.kek}, which neither PALIMPSEST_KEK nor PALIMPSEST_KEK_OTHERS is.`,
      );
    }
    throw fault;
  }
}
