import { randomUUID } from 'node:crypto';
import type { PadRef } from '../../../application/ports/pad-keys.js';
import type { LedgerAppend } from '../../../application/ports/ledger-store.js';
import type { ScratchpadStore } from '../../../application/ports/scratchpad-store.js';
import { VerifiedPads } from './connection-epoch.js';
import { connect, replies, run } from '../connection.js';
import { assertDurable } from '../durability.js';
import { entryText, headerOf, lostElement, readEntry, readHeader } from './entry-form.js';
import { LedgerReads } from './ledger-store.js';
import { scanPads } from './scan.js';
import { withScripts } from './scripts.js';

export interface RedisScratchpadStore extends ScratchpadStore {
  /** Throws StartupError when Redis evicts; answers what else is weaker than it should be, one line each. */
  assertDurable(): Promise<string[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Elements made with one command, at most. */
const chunkSize = 1_000;
/** Keyed appends looked at with one command. */
const scanned = 1_000;

/**
 * Working state in Redis. A pad is two keys, `scratchpad:{owner}:{scratchpad}:content` (a hash) and `…:entries` (a list),
 * and while a clear is unfinished `…:cleared:{clearId}`. Two sets name the pads that the auditor has to look at:
 * `scratchpads:touched`, and `scratchpads:audited` for those it is looking at. No key ever has a TTL.
 */
export function openScratchpadStore(url: string, options: { readonly keyPrefix?: string } = {}): RedisScratchpadStore {
  const redis = withScripts(connect(url));
  const prefix = options.keyPrefix ?? '';
  const key = ({ ownerId, scratchpadId }: PadRef, name: string) =>
    `${prefix}scratchpad:${ownerId}:${scratchpadId}:${name}`;
  const content = (pad: PadRef) => key(pad, 'content');
  const entries = (pad: PadRef) => key(pad, 'entries');
  const touched = `${prefix}scratchpads:touched`;
  const audited = `${prefix}scratchpads:audited`;
  const checks = new VerifiedPads();
  const reads = new LedgerReads(redis);
  // Also when it ends: what is asked for meanwhile may leave over the next one.
  for (const change of ['ready', 'close']) redis.on(change, () => checks.reconnected());

  return {
    create: (pad, at, { clears, length } = { clears: 0, length: 0 }) =>
      run(async () => {
        // The list is made aside and put in place only where there is none; the transaction leaves nothing behind.
        const made = key(pad, `made:${randomUUID()}`);
        const making = redis
          .multi()
          .hsetnx(content(pad), 'revision', '0')
          .hsetnx(content(pad), 'at', at)
          .hsetnx(content(pad), 'body', '')
          .rpush(made, headerOf(clears, length));
        for (let left = length; left > 0; left -= chunkSize) {
          making.rpush(made, ...Array<string>(Math.min(left, chunkSize)).fill(lostElement));
        }
        replies(await making.renamenx(made, entries(pad)).del(made).exec());
      }),

    append: (pad, entry, keyed) =>
      run(async () => {
        const element = [entryText(entry), memberOf(pad)] as const;
        const reply = keyed
          ? await redis.padAppendKeyed(
              ...([entries(pad), touched, content(pad), ...element, entry.id, keyed.digest, entry.at] as const),
            )
          : await redis.padAppend(entries(pad), touched, ...element);
        if (reply === 0) return undefined;
        if (typeof reply === 'number') return { index: reply - 1, generation: 0 };
        const [length, told] = reply;
        return length === 0 ? pushedBefore(told) : { index: length - 1, generation: readHeader(told).generation };
      }),

    entries: (pad, after, limit, clearId) =>
      run(() => reads.after(clearId === undefined ? entries(pad) : key(pad, `cleared:${clearId}`), after, limit)),

    latest: (pad, limit, bytes) => run(() => reads.last(entries(pad), limit, bytes)),

    stage: (pad, revision, eventId, text) =>
      run(async () => (await redis.padStage(content(pad), touched, revision, eventId, text, memberOf(pad))) === 1),

    promote: (pad, revision, eventId, at) =>
      run(async () => (await redis.padPromote(content(pad), revision, eventId, at)) === 1),

    unstage: (pad, revision, eventId) =>
      run(async () => {
        await redis.padUnstage(content(pad), revision, eventId);
      }),

    content: (pad) =>
      run(async () => {
        const [revision, at, body] = await redis.hmget(content(pad), 'revision', 'at', 'body');
        if (typeof revision !== 'string') return undefined;
        return { revision: Number(revision), content: body ?? '', at: at ?? '' };
      }),

    clearEntries: (pad, clearId) =>
      run(async () => {
        const copy = key(pad, `cleared:${clearId}`);
        const cleared = await redis.padClearEntries(
          ...([content(pad), entries(pad), copy, touched, clearId, memberOf(pad)] as const),
        );
        if (!cleared) return undefined;
        const [count, last] = cleared;
        return { count, ...(last.startsWith('[') && { lastEntryId: readEntry(last).id }) };
      }),

    forgetCleared: (pad, clearId) =>
      run(async () => {
        await redis.padForgetCleared(content(pad), key(pad, `cleared:${clearId}`), clearId);
      }),

    destroy: (pad) => run(() => redis.padDestroy(content(pad), entries(pad), key(pad, 'cleared:'))),

    exists: (pad) => run(async () => (await redis.exists(content(pad), entries(pad))) > 0),

    state: (pad) =>
      run(async () => {
        const [head, length, fields, size] = replies(
          await redis
            .multi()
            .lindex(entries(pad), 0)
            .llen(entries(pad))
            .hmget(content(pad), 'revision', 'at', 'stages', 'clears')
            .hlen(content(pad))
            .exec(),
        ) as [string | null, number, (string | null)[], number]; // What the four commands answer.
        const [revision, at, stages, clears] = fields;
        const staged = namesIn(stages).map((name) => {
          const mark = name.indexOf(':');
          return { revision: Number(name.slice(0, mark)), eventId: name.slice(mark + 1) };
        });
        return {
          ledger: head === null ? undefined : { clears: readHeader(head).generation, length: length - 1 },
          contentRevision: typeof revision === 'string' ? Number(revision) : undefined,
          at: at ?? '',
          staged,
          unfinishedClears: namesIn(clears),
          keyed: Math.max(0, size - 3 - staged.length - (stages ? 1 : 0) - (clears ? 1 : 0)),
        };
      }),

    mend: (pad, { clears, length }) =>
      run(async () => {
        await redis.padMend(entries(pad), clears, length);
      }),

    rearrange: (pad, { generation: clears, length, layoutVersion: arranged }, order, forget) =>
      run(async () => {
        const runs = JSON.stringify(runsOf(order));
        const moved = await redis.padRearrange(
          ...([content(pad), entries(pad), clears, arranged, length, runs, ...forget] as const),
        );
        return moved === 1;
      }),

    markRepeated: (pad, { clears, index, entryId, of }) =>
      run(async () => {
        await redis.padRepeat(entries(pad), clears, index, entryId, of);
      }),

    pruneKeyed: (pad, keep) =>
      run(async () => {
        const found: { readonly field: string; readonly at: string }[] = [];
        let cursor = '0';
        do {
          const [next, flat] = await redis.hscan(content(pad), cursor, 'MATCH', 'entry:*', 'COUNT', scanned);
          cursor = next;
          for (let n = 0; n + 1 < flat.length; n += 2) {
            found.push({ field: flat[n] ?? '', at: pushedBefore(flat[n + 1] ?? '').earlier.at });
          }
        } while (cursor !== '0');
        const old = found.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(keep);
        for (let start = 0; start < old.length; start += chunkSize) {
          await redis.hdel(content(pad), ...old.slice(start, start + chunkSize).map(({ field }) => field));
        }
      }),

    touched: (limit) =>
      run(async () => (await redis.padTakeTouched(touched, audited, limit)).map((member) => padOf(member))),

    settled: (pad) =>
      run(async () => {
        await redis.srem(audited, memberOf(pad));
      }),

    connection: () => checks.connection,
    isChecked: (pad) => checks.has(pad),
    checked: (pad, connection) => checks.add(pad, connection),

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

/** Old indexes in their new order, as runs of ones that go on by one, or of empty places: [5, 6, 0, 0] is [5, 2], [0, 2]. */
function runsOf(order: readonly number[]): readonly (readonly [from: number, count: number])[] {
  const runs: [from: number, count: number][] = [];
  for (const index of order) {
    const last = runs.at(-1);
    if (last && index === (last[0] === 0 ? 0 : last[0] + last[1])) last[1] += 1;
    else runs.push([index, 1]);
  }
  return runs;
}

const memberOf = ({ ownerId, scratchpadId }: PadRef): string => `${ownerId}:${scratchpadId}`;

function padOf(member: string): PadRef {
  const [ownerId = '', scratchpadId = ''] = member.split(':');
  return { ownerId, scratchpadId };
}

const namesIn = (list: string | null | undefined): string[] => list?.split(' ').filter(Boolean) ?? [];

/** What the hash remembers of a keyed append: clears, index, time, digest of the request. */
function pushedBefore(told: string): LedgerAppend & Required<Pick<LedgerAppend, 'before'>> {
  const [clears, index, at = '', digest = ''] = told.split(' ');
  return { generation: Number(clears), index: Number(index), earlier: { at, digest } };
}
