import { Client } from 'pg';
import type { KekRing } from '../../src/infrastructure/vault/kek-ring.js';
import { makeLocalKms } from '../../src/infrastructure/vault/local-kms.js';
import { ensureRootKey } from '../../src/infrastructure/vault/root-key.js';

/** The root key of an installation that was started before: what its app role's password derives from. */
export async function rootKeyOf(databaseUrl: string, keks: KekRing): Promise<Buffer> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await ensureRootKey((text, values) => client.query(text, [...values]), makeLocalKms(keks));
  } finally {
    await client.end();
  }
}
