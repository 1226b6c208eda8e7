import type { Redis } from 'ioredis';
import type { Entry, LedgerAppend, LedgerElements, LedgerStore } from '../../../application/ports/ledger-store.js';
import type { PadRef } from '../../../application/ports/pad-keys.js';
import { run } from '../connection.js';
import { entryText, readEntry, readHeader } from './entry-form.js';
import { memberOf, type KeyNames } from './key-names.js';
import { LedgerReader } from './ledger-reader.js';
import type { PadScripts } from './scripts.js';

export class RedisLedgerStore implements LedgerStore {
  private readonly reader: LedgerReader;

  constructor(
    private readonly redis: Redis & PadScripts,
    private readonly names: KeyNames,
  ) {
    this.reader = new LedgerReader(redis);
  }

  append(pad: PadRef, entry: Entry, key?: { readonly digest: string }): Promise<LedgerAppend | undefined> {
    return run(async () => {
      const reply = await this.push(pad, entry, key);
      if (reply === 0) return undefined;
      if (typeof reply === 'number') return { index: reply - 1, generation: 0 };
      const [length, note] = reply;
      return length === 0 ? readAppend(note) : { index: length - 1, generation: readHeader(note).generation };
    });
  }

  private push(pad: PadRef, entry: Entry, key: { readonly digest: string } | undefined) {
    const { redis, names } = this;
    const [list, element, member] = [names.entries(pad), entryText(entry), memberOf(pad)];
    return key
      ? redis.padAppendOnce(list, names.dirty, names.content(pad), element, member, entry.id, key.digest, entry.at)
      : redis.padAppend(list, names.dirty, element, member);
  }

  read(pad: PadRef, after: number, limit: number, clearId?: string): Promise<LedgerElements | undefined> {
    const list = clearId === undefined ? this.names.entries(pad) : this.names.cleared(pad, clearId);
    return run(() => this.reader.after(list, after, limit));
  }

  tail(pad: PadRef, limit: number, bytes: number): Promise<LedgerElements | undefined> {
    return run(() => this.reader.last(this.names.entries(pad), limit, bytes));
  }

  clear(pad: PadRef, clearId: string) {
    const { redis, names } = this;
    return run(async () => {
      const copy = names.cleared(pad, clearId);
      const keys = [names.content(pad), names.entries(pad), copy, names.dirty] as const;
      const cleared = await redis.padClear(...keys, clearId, memberOf(pad));
      if (!cleared) return undefined;
      const [count, last] = cleared;
      return last.startsWith('[') ? { count, lastEntryId: readEntry(last).id } : { count };
    });
  }

  dropCleared(pad: PadRef, clearId: string): Promise<void> {
    return run(async () => {
      await this.redis.padDropCleared(this.names.content(pad), this.names.cleared(pad, clearId), clearId);
    });
  }
}

/** What the hash remembers of an append under an idempotency key: generation, index, time, digest of the request. */
export function readAppend(note: string): LedgerAppend & Required<Pick<LedgerAppend, 'earlier'>> {
  const [generation, index, at = '', digest = ''] = note.split(' ');
  return { generation: Number(generation), index: Number(index), earlier: { at, digest } };
}
