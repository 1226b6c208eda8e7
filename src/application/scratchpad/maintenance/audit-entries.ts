import { findPlaces } from '../../../../projections/audit.js';
import { contains, missingIn, rangesOf, type Ranges } from '../../../domain/scratchpad/index-ranges.js';
import { generationOf, ledger } from '../../../domain/scratchpad/ledger.js';
import type { IndexedEntry, LedgerElements } from '../../ports/ledger-store.js';
import type { ReadDb } from '../../ports/read-models.js';
import { ledgerStream, recordAppended, recordDuplicate, recordLost } from '../ledger-events.js';
import type { PadContext } from '../pad-context.js';

const pageSize = 500;
/** Entries recorded in one audit of a pad, at most; the next audit continues. */
const mostAtOnce = 20_000;

/**
 * Records what stands in the ledger and was not recorded by its writer, who may have died; under the same ids. Entries
 * written after `before` (RFC 3339) are left to their writers. Answers whether nothing is left.
 * Why: the ledger is its own outbox (docs/flows.md#audit-ledgers).
 */
export async function auditEntries(pad: PadContext, before: string, reads: ReadDb): Promise<boolean> {
  const { ref, scratchpadId, store, streams } = pad;
  const { ledger: list } = await store.keys.state(ref);
  // It was there a moment ago: the next audit finds out what it has lost.
  if (!list) return false;
  const known = generationOf(await streams.aggregates.load(ledger, scratchpadId), list.generation);
  if (!known) return true;
  const firstIndexes = new Map<string, number>();
  let isComplete = true;
  let looked = 0;
  for (const [from, to] of missingIn(known.covered, 1, list.length)) {
    for (let after = from - 1; after < to; after += pageSize) {
      if ((looked += pageSize) > mostAtOnce) return false;
      const page = await store.ledger.read(ref, after, Math.min(pageSize, to - after));
      if (page?.generation !== list.generation) return false;
      const entries = page.entries.filter(({ at }) => at <= before);
      if (entries.length < page.entries.length) isComplete = false;
      await recordPage(pad, { ...page, entries }, { firstIndexes, lost: known.lost }, reads);
    }
  }
  return isComplete;
}

interface Known {
  /** By entry id, where entries of pages before this one stand first. */
  readonly firstIndexes: Map<string, number>;
  readonly lost: Ranges;
}

async function recordPage(pad: PadContext, page: LedgerElements, known: Known, reads: ReadDb): Promise<void> {
  const { scratchpadId, streams } = pad;
  const { entries, lost, duplicates, generation } = page;
  const standing = await standingIndexes(scratchpadId, page, known.lost, reads);
  const system = streams.asSystem(entries[0]?.correlationId ?? scratchpadId);
  await Promise.all([
    ...entries.map((entry) => {
      const of = standing.get(entry.id) ?? known.firstIndexes.get(entry.id);
      known.firstIndexes.set(entry.id, of ?? entry.index);
      return recordEntry(pad, entry, generation, of);
    }),
    ...rangesOf(lost).map(([from, to]) => recordLost(system, scratchpadId, { generation, from, to, reason: 'tail' })),
    ...duplicates.map((one) => recordDuplicate(system, scratchpadId, { ...one, generation })),
  ]);
}

/** Records an entry, or that it is the duplicate of the one at index `of`. */
async function recordEntry(
  { ref, scratchpadId, store, streams }: PadContext,
  entry: IndexedEntry,
  generation: number,
  of: number | undefined,
): Promise<void> {
  const { index, id: entryId } = entry;
  const system = streams.asSystem(entry.correlationId);
  if (of === undefined) await recordAppended(system, scratchpadId, entry, { index, generation });
  if (of === undefined || of === index) return;
  const duplicate = { generation, entryId, index, of };
  // The mark first: once the duplicate is recorded, no audit looks at this index again.
  await store.repair.markDuplicate(ref, duplicate);
  await recordDuplicate(system, scratchpadId, duplicate);
}

/**
 * Where these entries were recorded and still stand, by id. An entry that Redis lost and a retry pushed again stands anew:
 * it is no duplicate. The trail is a read model and may be behind: then the next audit finds them.
 */
async function standingIndexes(
  scratchpadId: string,
  { entries, generation }: LedgerElements,
  lost: Ranges,
  reads: ReadDb,
): Promise<ReadonlyMap<string, number>> {
  if (entries.length === 0) return new Map();
  const ids = entries.map(({ id }) => id);
  const places = await findPlaces(reads, ledgerStream(scratchpadId), ids);
  const standing = places.filter((place) => place.clears === generation && !contains(lost, place.index));
  // The first index wins.
  return new Map(standing.sort((a, b) => b.index - a.index).map(({ entryId, index }) => [entryId, index]));
}
