import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

// Why scripts, and why these: docs/decisions/0003-content-is-a-hash.md and 0030-ledger-and-stream.md. Each is one atomic
// step on one pad. Names of staged texts and unfinished clears stand in lists of their own (fields `stages`, `clears`), so
// that no script walks a hash that also remembers thousands of idempotency keys.

const text = (name: string): string => readFileSync(join(__dirname, 'scripts', `${name}.lua`), 'utf8');

/** The length of the list with its header, and the header; a length of 0 with what an earlier append was; 0 alone: absent. */
type AppendReply = number | readonly [length: number, note: string];

/** The scripts as commands of a client. */
export interface PadScripts {
  padAppend(entries: string, dirty: string, element: string, pad: string): Promise<AppendReply>;
  padAppendOnce(
    entries: string,
    dirty: string,
    content: string,
    ...args: readonly [element: string, pad: string, entryId: string, digest: string, at: string]
  ): Promise<AppendReply>;
  padStage(
    content: string,
    dirty: string,
    revision: number,
    eventId: string,
    body: string,
    pad: string,
  ): Promise<number>;
  padPromote(content: string, revision: number, eventId: string, at: string): Promise<number>;
  padUnstage(content: string, revision: number, eventId: string): Promise<number>;
  padClear(
    content: string,
    entries: string,
    cleared: string,
    dirty: string,
    clearId: string,
    pad: string,
  ): Promise<readonly [count: number, last: string] | null>;
  padDropCleared(content: string, cleared: string, clearId: string): Promise<number>;
  padDestroy(content: string, entries: string, clearedPrefix: string): Promise<number>;
  padFastForward(entries: string, generation: number, length: number): Promise<number>;
  padReorder(
    content: string,
    entries: string,
    ...args: readonly [
      generation: number,
      layoutVersion: number,
      length: number,
      order: string,
      ...forget: readonly string[],
    ]
  ): Promise<number>;
  padMarkDuplicate(entries: string, generation: number, index: number, entryId: string, of: number): Promise<number>;
  padTakeDirty(dirty: string, audited: string, limit: number): Promise<readonly string[]>;
  padRead(
    list: string,
    ...args: readonly [from: number, way: 1 | -1, limit: number, bytes: number]
  ): Promise<readonly [length: number, header: string | null, elements: readonly string[]]>;
}

/** Command → script, its number of keys, and whether it begins with the helpers of names.lua. */
const commands = {
  padAppend: ['append', 2],
  padAppendOnce: ['append-keyed', 3],
  padStage: ['stage', 2, 'names'],
  padPromote: ['promote', 1, 'names'],
  padUnstage: ['unstage', 1, 'names'],
  padClear: ['clear', 4, 'names'],
  padDropCleared: ['drop-cleared', 2, 'names'],
  padDestroy: ['destroy', 2, 'names'],
  padFastForward: ['fast-forward', 1],
  padReorder: ['reorder', 2],
  padMarkDuplicate: ['mark-duplicate', 1],
  padTakeDirty: ['take-dirty', 2],
  padRead: ['read', 1],
} as const satisfies Readonly<Record<keyof PadScripts, readonly [script: string, numberOfKeys: number, 'names'?]>>;

/** Gives a client the scripts as commands. */
export function withScripts(redis: Redis): Redis & PadScripts {
  for (const [command, [script, numberOfKeys, helpers]] of Object.entries(commands)) {
    const lua = helpers ? `${text(helpers)}${text(script)}` : text(script);
    redis.defineCommand(command, { numberOfKeys, lua });
  }
  return redis as Redis & PadScripts; // It has just been given them.
}
