import { connect, run, untilReady } from './connection.js';

const suffix = ':notebook';
const prefix = 'scratchpad:';
const keyOf = (threadId: string): string => `${prefix}${threadId}${suffix}`;

/** Removes a key only while it still holds this text. */
const removeIfSame = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** The storage that came before scratchpads: one plain text for each thread, `scratchpad:{threadId}:notebook`. */
export async function openOldNotebooks(url: string) {
  const redis = connect(url);
  try {
    await untilReady(redis);
  } catch (fault) {
    redis.disconnect();
    throw fault;
  }
  return {
    /** The bytes of a notebook; undefined when there is none, or none that is a text. */
    read: (threadId: string): Promise<Buffer | undefined> =>
      run(async () => {
        if ((await redis.type(keyOf(threadId))) !== 'string') return undefined;
        return (await redis.getBuffer(keyOf(threadId))) ?? undefined;
      }),

    /** False when it holds something else meanwhile; then it stays. */
    remove: (threadId: string, text: Buffer): Promise<boolean> =>
      run(async () => (await redis.eval(removeIfSame, 1, keyOf(threadId), text)) === 1),

    /** The thread ids of all notebooks, each at least once. */
    async *threadIds(): AsyncIterable<string> {
      let cursor = '0';
      do {
        const [next, keys] = await run(() => redis.scan(cursor, 'MATCH', `${prefix}*${suffix}`, 'COUNT', 500));
        cursor = next;
        for (const key of keys) yield key.slice(prefix.length, -suffix.length);
      } while (cursor !== '0');
    },

    close: () => redis.disconnect(),
  };
}
