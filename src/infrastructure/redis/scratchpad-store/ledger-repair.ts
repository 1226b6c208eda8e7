import type { Redis } from 'ioredis';
import type { LedgerRepair } from '../../../application/ports/ledger-repair.js';
import type { LedgerElements } from '../../../application/ports/ledger-store.js';
import type { PadRef } from '../../../application/ports/pad-keys.js';
import type { LedgerExtent } from '../../../domain/scratchpad/ledger-list.js';
import { run } from '../connection.js';
import type { KeyNames } from './key-names.js';
import { readAppend } from './ledger-store.js';
import type { PadScripts } from './scripts.js';

/** Fields removed with one command, and looked at with one command, at most. */
const chunkSize = 1_000;

export class RedisLedgerRepair implements LedgerRepair {
  constructor(
    private readonly redis: Redis & PadScripts,
    private readonly names: KeyNames,
  ) {}

  fastForward(pad: PadRef, { generation, length }: LedgerExtent): Promise<void> {
    return run(async () => {
      await this.redis.padFastForward(this.names.entries(pad), generation, length);
    });
  }

  reorder(
    pad: PadRef,
    { generation, length, layoutVersion }: Pick<LedgerElements, 'generation' | 'length' | 'layoutVersion'>,
    order: readonly number[],
    forget: readonly string[],
  ): Promise<boolean> {
    const { redis, names } = this;
    const runs = JSON.stringify(runLengths(order));
    const keys = [names.content(pad), names.entries(pad)] as const;
    return run(async () => (await redis.padReorder(...keys, generation, layoutVersion, length, runs, ...forget)) === 1);
  }

  markDuplicate(
    pad: PadRef,
    duplicate: { readonly generation: number; readonly index: number; readonly entryId: string; readonly of: number },
  ): Promise<void> {
    const { generation, index, entryId, of } = duplicate;
    return run(async () => {
      await this.redis.padMarkDuplicate(this.names.entries(pad), generation, index, entryId, of);
    });
  }

  pruneIdempotencyKeys(pad: PadRef, keep: number): Promise<void> {
    const { redis, names } = this;
    return run(async () => {
      const found = await this.rememberedAppends(names.content(pad));
      const old = found.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(keep);
      for (let start = 0; start < old.length; start += chunkSize) {
        await redis.hdel(names.content(pad), ...old.slice(start, start + chunkSize).map(({ field }) => field));
      }
    });
  }

  private async rememberedAppends(hash: string): Promise<{ readonly field: string; readonly at: string }[]> {
    const found: { readonly field: string; readonly at: string }[] = [];
    let cursor = '0';
    do {
      const [next, flat] = await this.redis.hscan(hash, cursor, 'MATCH', 'entry:*', 'COUNT', chunkSize);
      cursor = next;
      for (let n = 0; n + 1 < flat.length; n += 2) {
        found.push({ field: flat[n] ?? '', at: readAppend(flat[n + 1] ?? '').earlier.at });
      }
    } while (cursor !== '0');
    return found;
  }
}

/** Old indexes in their new order, as runs of neighbours or of holes: [5, 6, 0, 0] is [5, 2], [0, 2]. */
function runLengths(order: readonly number[]): readonly (readonly [from: number, count: number])[] {
  const runs: [from: number, count: number][] = [];
  for (const index of order) {
    const last = runs.at(-1);
    if (last && index === (last[0] === 0 ? 0 : last[0] + last[1])) last[1] += 1;
    else runs.push([index, 1]);
  }
  return runs;
}
