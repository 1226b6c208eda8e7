import { randomUUID } from 'node:crypto';
import type { PadRef, WorkingState } from '../../application/ports.js';
import { connect, replies, run } from './connection.js';
import { assertDurable } from './durability.js';
import { entryText, header, readEntry } from './entry-form.js';
import { scanPads } from './scan.js';
import { withScripts } from './scripts.js';

export interface RedisWorkingState extends WorkingState {
  /** Throws StartupError when Redis evicts; answers what else is weaker than it should be, one line each. */
  assertDurable(): Promise<string[]>;
  /** Every pad that has keys, each at least once, while others come and go. */
  scan(): AsyncIterable<PadRef>;
  /** Changes when Redis was restarted: then it may have lost what it had not written to disk. */
  runId(): Promise<string>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Working state in Redis. A pad is two keys, `scratchpad:{owner}:{scratchpad}:content` (a hash) and `…:entries` (a list),
 * and while a clear is unfinished `…:cleared:{clearId}`. No key ever has a TTL.
 */
export function openWorkingState(url: string, options: { readonly keyPrefix?: string } = {}): RedisWorkingState {
  const redis = withScripts(connect(url));
  const prefix = options.keyPrefix ?? '';
  const key = ({ ownerId, scratchpadId }: PadRef, name: string) =>
    `${prefix}scratchpad:${ownerId}:${scratchpadId}:${name}`;
  const content = (pad: PadRef) => key(pad, 'content');
  const entries = (pad: PadRef) => key(pad, 'entries');

  return {
    create: (pad, at) =>
      run(async () => {
        // The list is made aside and put in place only where there is none; the transaction leaves nothing behind.
        const made = key(pad, `made:${randomUUID()}`);
        replies(
          await redis
            .multi()
            .hsetnx(content(pad), 'revision', '0')
            .hsetnx(content(pad), 'at', at)
            .hsetnx(content(pad), 'body', '')
            .rpush(made, header)
            .renamenx(made, entries(pad))
            .del(made)
            .exec(),
        );
      }),

    append: (pad, entry) =>
      run(async () => {
        const length = await redis.rpushx(entries(pad), entryText(entry));
        return length === 0 ? undefined : length - 1;
      }),

    entries: (pad, after, limit) =>
      run(async () => {
        const [page, length] = replies(
          await redis
            .multi()
            .lrange(entries(pad), after + 1, after + limit)
            .llen(entries(pad))
            .exec(),
        ) as [string[], number]; // What the two commands answer.
        if (length === 0) return undefined;
        const found = limit > 0 ? page.map((text, place) => ({ ...readEntry(text), index: after + 1 + place })) : [];
        return { entries: found, length: length - 1 };
      }),

    stage: (pad, revision, eventId, text) =>
      run(async () => (await redis.padStage(content(pad), revision, eventId, text)) === 1),

    promote: (pad, revision, eventId, at) =>
      run(async () => {
        await redis.padPromote(content(pad), revision, eventId, at);
      }),

    unstage: (pad, revision, eventId) =>
      run(async () => {
        await redis.hdel(content(pad), `staged:${revision}:${eventId}`);
      }),

    content: (pad) =>
      run(async () => {
        const [revision, at, body] = await redis.hmget(content(pad), 'revision', 'at', 'body');
        if (typeof revision !== 'string') return undefined;
        return { revision: Number(revision), content: body ?? '', at: at ?? '' };
      }),

    clearEntries: (pad, clearId) =>
      run(async () => {
        const cleared = await redis.padClearEntries(
          content(pad),
          entries(pad),
          key(pad, `cleared:${clearId}`),
          clearId,
        );
        if (!cleared) return undefined;
        const [count, last] = cleared;
        return { count, ...(count > 0 && { lastEntryId: readEntry(last).id }) };
      }),

    forgetCleared: (pad, clearId) =>
      run(async () => {
        replies(
          await redis
            .multi()
            .del(key(pad, `cleared:${clearId}`))
            .hdel(content(pad), `cleared:${clearId}`)
            .exec(),
        );
      }),

    destroy: (pad) => run(() => redis.padDestroy(content(pad), entries(pad), key(pad, 'cleared:'))),

    exists: (pad) => run(async () => (await redis.exists(content(pad), entries(pad))) > 0),

    scan: () => scanPads(redis, prefix),

    runId: () => run(async () => /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1] ?? ''),

    assertDurable: () => assertDurable(redis),

    ping: () =>
      run(async () => {
        await redis.ping();
      }),

    close() {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}
