import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import { ledgerEvents } from '../../domain/scratchpad/events.js';
import { sizeOf } from '../../domain/scratchpad/index-ranges.js';
import type { LedgerExtent } from '../../domain/scratchpad/ledger-list.js';
import { generationOf, ledger } from '../../domain/scratchpad/ledger.js';
import { scratchpad } from '../../domain/scratchpad/scratchpad.js';
import type { OwnerStreams } from '../event-sourcing/owner-streams.js';
import { sha256 } from '../kernel/canonical-json.js';
import { readContent } from './content.js';
import { ledgerStream } from './ledger-events.js';
import type { PadContext } from './pad-context.js';

/** Disagreements are named up to this many; they are counted in full. */
const mostNamed = 100;
const pageSize = 500;

export interface Verification {
  /** Nothing is lost, everything is recorded, and every word is the one that was recorded. */
  readonly ok: boolean;
  /** Entries in the ledger. */
  readonly entries: number;
  /** Entries of the ledger that the stream records with the same digest. */
  readonly audited: number;
  readonly lost: { readonly from: number; readonly to: number }[];
  readonly unaudited: number;
  readonly repeated: number;
  readonly mismatches: number;
  readonly mismatched: { readonly index: number; readonly audited: string; readonly found: string }[];
  readonly contentRevision: number;
  readonly contentSha256Matches: boolean;
}

/** Compares every entry of a ledger, by digest, with what its stream records of it. */
export async function verifyPad(pad: PadContext): Promise<Verification | Refusal<'not_found'>> {
  const { ref, scratchpadId, store, streams } = pad;
  const content = await readContent(pad);
  if (isRefusal(content)) return content;
  const list = await pad.consistency.run(async () => (await store.keys.state(ref)).ledger);
  if (isRefusal(list)) return list;
  const { mismatched, ...counts } = await compareEntries(pad, list, await recordedEntries(scratchpadId, streams));
  const known = generationOf(await streams.aggregates.load(ledger, scratchpadId), list.generation);
  const lost = known?.lost ?? [];
  const state = await streams.aggregates.load(scratchpad, scratchpadId);
  const contentSha256Matches = state.status === 'open' && !content.lost && content.sha256 === state.sha256;
  return {
    ok: lost.length === 0 && counts.unaudited === 0 && mismatched.length === 0 && contentSha256Matches,
    ...counts,
    lost: lost.slice(0, mostNamed).map(([from, to]) => ({ from, to })),
    repeated: sizeOf(known?.duplicates ?? []),
    mismatches: mismatched.length,
    mismatched: mismatched.slice(0, mostNamed),
    contentRevision: content.revision,
    contentSha256Matches,
  };
}

interface RecordedEntry {
  readonly entryId: string;
  readonly sha256: string;
}

/** By generation and index. */
type RecordedEntries = ReadonlyMap<number, ReadonlyMap<number, RecordedEntry>>;

async function recordedEntries(scratchpadId: string, { events }: OwnerStreams): Promise<RecordedEntries> {
  const generations = new Map<number, Map<number, RecordedEntry>>();
  for await (const { type, data } of events.forwards(ledgerStream(scratchpadId))) {
    if (type === 'scratchpad.entries_cleared') {
      const { clears: begun = 0 } = ledgerEvents[type].parse(data);
      for (const generation of generations.keys()) if (generation < begun) generations.delete(generation);
    }
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears: recordedIn = 0, index, entryId, sha256: digest } = ledgerEvents[type].parse(data);
    const recorded = generations.get(recordedIn) ?? new Map<number, RecordedEntry>();
    // An event that was stored twice says the same twice.
    if (!recorded.has(index)) recorded.set(index, { entryId, sha256: digest });
    generations.set(recordedIn, recorded);
  }
  return generations;
}

async function compareEntries({ ref, store }: PadContext, { generation, length }: LedgerExtent, all: RecordedEntries) {
  const recorded = all.get(generation) ?? new Map<number, RecordedEntry>();
  const found = { entries: 0, audited: 0, unaudited: 0, mismatched: [] as Verification['mismatched'][number][] };
  for (let after = 0; after < length; after += pageSize) {
    const page = await store.ledger.read(ref, after, Math.min(pageSize, length - after));
    // Cleared meanwhile: nothing is wrong with that.
    if (page?.generation !== generation) break;
    for (const { index, id, content } of page.entries) {
      const known = recorded.get(index);
      const digest = sha256(content);
      found.entries += 1;
      if (!known) found.unaudited += 1;
      else if (known.entryId === id && known.sha256 === digest) found.audited += 1;
      else found.mismatched.push({ index, audited: known.sha256, found: digest });
    }
  }
  return found;
}
