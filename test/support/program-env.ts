import type { Backends } from '../../src/composition/tokens.js';

/** What a process of the product must be asked to run on these backends. */
export const envOf = ({ databaseUrl, eventstoreUrl, redisUrl, keks }: Backends): Readonly<Record<string, string>> => ({
  DATABASE_URL: databaseUrl,
  EVENTSTORE_URL: eventstoreUrl,
  REDIS_URL: redisUrl,
  PALIMPSEST_KEK: `${keks.current.number}:${keks.current.key.toString('base64')}`,
});
