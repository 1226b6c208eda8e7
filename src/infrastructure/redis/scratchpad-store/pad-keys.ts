import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { PadKeys, PadRef, PadState } from '../../../application/ports/pad-keys.js';
import type { LedgerExtent } from '../../../domain/scratchpad/ledger-list.js';
import { replies, run } from '../connection.js';
import { headerOf, lostElement, readHeader } from './entry-form.js';
import type { KeyNames } from './key-names.js';
import type { PadScripts } from './scripts.js';

/** Elements made with one command, at most. */
const chunkSize = 1_000;

export class RedisPadKeys implements PadKeys {
  constructor(
    private readonly redis: Redis & PadScripts,
    private readonly names: KeyNames,
  ) {}

  create(pad: PadRef, at: string, { generation, length }: LedgerExtent = { generation: 0, length: 0 }): Promise<void> {
    const { redis, names } = this;
    return run(async () => {
      // The list is made aside and put in place only where there is none; the transaction leaves nothing behind.
      const made = names.of(pad, `made:${randomUUID()}`);
      const making = redis
        .multi()
        .hsetnx(names.content(pad), 'revision', '0')
        .hsetnx(names.content(pad), 'at', at)
        .hsetnx(names.content(pad), 'body', '')
        .rpush(made, headerOf(generation, length));
      for (let left = length; left > 0; left -= chunkSize) {
        making.rpush(made, ...Array<string>(Math.min(left, chunkSize)).fill(lostElement));
      }
      replies(await making.renamenx(made, names.entries(pad)).del(made).exec());
    });
  }

  destroy(pad: PadRef): Promise<number> {
    const { redis, names } = this;
    return run(() => redis.padDestroy(names.content(pad), names.entries(pad), names.cleared(pad, '')));
  }

  exists(pad: PadRef): Promise<boolean> {
    return run(async () => (await this.redis.exists(this.names.content(pad), this.names.entries(pad))) > 0);
  }

  state(pad: PadRef): Promise<PadState> {
    const { redis, names } = this;
    return run(async () => {
      const [head, length, fields, size] = replies(
        await redis
          .multi()
          .lindex(names.entries(pad), 0)
          .llen(names.entries(pad))
          .hmget(names.content(pad), 'revision', 'at', 'stages', 'clears')
          .hlen(names.content(pad))
          .exec(),
      ) as [string | null, number, (string | null)[], number]; // What the four commands answer.
      const [revision, at, stages, clears] = fields;
      const staged = namesIn(stages).map(readStageName);
      const lists = (stages ? 1 : 0) + (clears ? 1 : 0);
      return {
        ledger: head === null ? undefined : { generation: readHeader(head).generation, length: length - 1 },
        contentRevision: typeof revision === 'string' ? Number(revision) : undefined,
        at: at ?? '',
        staged,
        unfinishedClearIds: namesIn(clears),
        // Beside them the hash has three fields, and one for each list of names.
        idempotencyKeys: Math.max(0, size - 3 - staged.length - lists),
      };
    });
  }
}

const namesIn = (list: string | null | undefined): string[] => list?.split(' ').filter(Boolean) ?? [];

function readStageName(name: string): { readonly revision: number; readonly eventId: string } {
  const mark = name.indexOf(':');
  return { revision: Number(name.slice(0, mark)), eventId: name.slice(mark + 1) };
}
