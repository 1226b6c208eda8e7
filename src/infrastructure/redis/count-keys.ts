import { Redis } from 'ioredis';

/** How many keys hold anything of a scratchpad. */
export async function countPadKeys(url: string, scratchpadId: string): Promise<number> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1 });
  try {
    let count = 0;
    for await (const keys of redis.scanStream({ match: `*scratchpad:*:${scratchpadId}:*`, count: 1000 })) {
      count += (keys as readonly string[]).length;
    }
    return count;
  } finally {
    redis.disconnect();
  }
}
