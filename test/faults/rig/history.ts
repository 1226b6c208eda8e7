import type { Answer } from './caller.js';
import type { Listed } from './ledger.js';

/** One entry whose writer got the answer that it is kept. */
export interface Acknowledged {
  readonly scratchpadId: string;
  readonly id: string;
  readonly index: number;
  readonly content: string;
  /** Of the request that was answered, which may be the last of several. */
  readonly begun: number;
  readonly ended: number;
}

/** Which answers were given, and when. The checkers compare it with what is there; each answers its faults, none when all is well. */
export class History {
  readonly appends: Acknowledged[] = [];
  /** When the first answer to a pad's deletion came. */
  readonly deletions = new Map<string, number>();

  appended(scratchpadId: string, content: string, answer: Answer): void {
    const { id, index } = answer.data as { id: string; index: number }; // as scratchpad.entry.append declares
    this.appends.push({ scratchpadId, id, index, content, begun: answer.begun, ended: answer.ended });
  }

  deleted(scratchpadId: string, { ended }: Answer): void {
    this.deletions.set(scratchpadId, Math.min(ended, this.deletions.get(scratchpadId) ?? Infinity));
  }

  of(scratchpadId: string): readonly Acknowledged[] {
    return this.appends.filter((append) => append.scratchpadId === scratchpadId);
  }

  /** Appends that were begun once their pad was known to be deleted, and were acknowledged all the same. */
  lateAcknowledgements(): string[] {
    return this.appends
      .filter(({ scratchpadId, begun }) => begun > (this.deletions.get(scratchpadId) ?? Infinity))
      .map(({ scratchpadId, content }) => `${content} was acknowledged after ${scratchpadId} was deleted`);
  }
}

/** Every acknowledged entry is there, once, with its words, at the index of the answer. */
export function missing(acknowledged: readonly Acknowledged[], entries: readonly Listed[]): string[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return acknowledged.flatMap(({ id, index, content }) => {
    const entry = byId.get(id);
    if (!entry) return [`${content} (${index}) was acknowledged and is not there`];
    if (entry.content !== content) return [`${content} reads ${entry.content}`];
    return entry.index === index ? [] : [`${content} was acknowledged at ${index} and is at ${entry.index}`];
  });
}

/** No entry is there twice, and indexes go up. */
export function repeated(entries: readonly Listed[]): string[] {
  const seen = new Map<string, number>();
  return entries.flatMap(({ id, index, content }, place) => {
    const faults: string[] = [];
    const before = seen.get(id);
    if (before !== undefined) faults.push(`${content} is there twice, at ${before} and at ${index}`);
    seen.set(id, index);
    const last = entries[place - 1];
    if (last && last.index >= index) faults.push(`index ${index} comes after ${last.index}`);
    return faults;
  });
}

/** The audit trail names every entry once, and nothing else. */
export function unaudited(entries: readonly Listed[], audited: readonly string[]): string[] {
  const reported = new Map<string, number>();
  for (const id of audited) reported.set(id, (reported.get(id) ?? 0) + 1);
  const faults = entries
    .filter(({ id }) => reported.get(id) !== 1)
    .map(({ id, content }) => `${content} is audited ${reported.get(id) ?? 0} times`);
  const there = new Set(entries.map(({ id }) => id));
  return [
    ...faults,
    ...[...reported.keys()].filter((id) => !there.has(id)).map((id) => `audited, but not there: ${id}`),
  ];
}
