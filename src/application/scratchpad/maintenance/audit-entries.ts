import { findPlaces } from '../../../../projections/audit.js';
import { generationOf, ledger } from '../../../domain/scratchpad/ledger.js';
import { missingIn, contains, rangesOf, type Ranges } from '../../../domain/scratchpad/index-ranges.js';
import type { IndexedEntry, LedgerElements } from '../../ports/ledger-store.js';
import type { PadRef } from '../../ports/pad-keys.js';
import type { SystemWork } from '../../reactions/reaction.js';
import { ledgerStream } from '../ledger-names.js';
import { recordAppended, recordLost, recordDuplicate } from '../ledger-events.js';

const pageSize = 500;
/** Entries told of in one look at a pad, at most; the next look goes on. */
const mostAtOnce = 20_000;

/**
 * The ledger is its own outbox: whatever stands in it and was not told of by its writer, who may have died, is told of
 * here, under the same ids. Entries written after `before` (RFC 3339) are left to their writers. Answers whether nothing
 * is left.
 */
export async function auditEntries(pad: PadRef, before: string, work: SystemWork): Promise<boolean> {
  const { ledger: list } = await work.working.keys.state(pad);
  // It was there a moment ago: the next look finds out what it has lost.
  if (!list) return false;
  const era = generationOf(await work.streams.load(ledger, pad.scratchpadId), list.generation);
  if (!era) return true;
  const first = new Map<string, number>();
  let complete = true;
  let looked = 0;
  for (const [from, to] of missingIn(era.covered, 1, list.length)) {
    for (let after = from - 1; after < to; after += pageSize) {
      if ((looked += pageSize) > mostAtOnce) return false;
      const page = await work.working.ledger.read(pad, after, Math.min(pageSize, to - after));
      if (page?.generation !== list.generation) return false;
      const old = page.entries.filter(({ at }) => at <= before);
      if (old.length < page.entries.length) complete = false;
      await recordPage(pad, { ...page, entries: old }, { first, lost: era.lost }, work);
    }
  }
  return complete;
}

interface Known {
  /** Where entries of pages before this one stand first. */
  readonly first: Map<string, number>;
  readonly lost: Ranges;
}

async function recordPage(
  pad: PadRef,
  { entries, lost, duplicates: repeats, generation: clears }: LedgerElements,
  { first, lost: lostBefore }: Known,
  work: SystemWork,
): Promise<void> {
  const { scratchpadId } = pad;
  const { streams, working } = work;
  const standing = await standingPlaces(scratchpadId, entries, clears, lostBefore, work);
  const tell = async (entry: IndexedEntry): Promise<unknown> => {
    const system = streams.asSystem(entry.correlationId);
    const of = standing.get(entry.id) ?? first.get(entry.id);
    first.set(entry.id, of ?? entry.index);
    if (of === undefined) return recordAppended(scratchpadId, entry, { index: entry.index, clears }, system);
    if (of === entry.index) return undefined;
    const repeat = { clears, entryId: entry.id, index: entry.index, of };
    // The mark first: once it is told of, nobody looks at this place again.
    await working.repair.markDuplicate(pad, repeat);
    return recordDuplicate(scratchpadId, repeat, system);
  };
  const system = streams.asSystem(entries[0]?.correlationId ?? scratchpadId);
  await Promise.all([
    ...entries.map(tell),
    ...rangesOf(lost).map(([from, to]) => recordLost(scratchpadId, { clears, from, to, reason: 'tail' }, system)),
    ...repeats.map(({ index, entryId, of }) => recordDuplicate(scratchpadId, { clears, index, entryId, of }, system)),
  ]);
}

/**
 * Where these entries were told of and still stand. What Redis lost and a retry pushed again stands anew: it is no
 * repetition. The trail is a read model and may be behind: then the next look finds them.
 */
async function standingPlaces(
  scratchpadId: string,
  entries: readonly IndexedEntry[],
  clears: number,
  lost: Ranges,
  { db }: SystemWork,
): Promise<ReadonlyMap<string, number>> {
  if (entries.length === 0) return new Map();
  const ids = entries.map(({ id }) => id);
  const places = await findPlaces(db, ledgerStream(scratchpadId), ids);
  const standing = places.filter((place) => place.clears === clears && !contains(lost, place.index));
  // The first place wins.
  return new Map(standing.sort((a, b) => b.index - a.index).map(({ entryId, index }) => [entryId, index]));
}
