import { isRefusal, refuse, type Refusal } from '../../domain/kernel/refusal.js';
import { ledgerEvents } from '../../domain/scratchpad/events.js';
import { generationOf, ledger } from '../../domain/scratchpad/ledger.js';
import { sizeOf } from '../../domain/scratchpad/index-ranges.js';
import { scratchpad } from '../../domain/scratchpad/scratchpad.js';
import { sha256 } from '../kernel/canonical-json.js';
import type { OperationContext } from '../operation/context.js';
import { readContent } from './content.js';
import type { PadRef } from '../ports/pad-keys.js';
import { ledgerStream } from './ledger-names.js';
import { isSound } from './consistency.js';

/** What does not agree is named up to this many; it is counted in full. */
const mostNamed = 100;
const pageSize = 500;

export interface Verification {
  /** Nothing is lost, everything is audited, and every word is the one that was audited. */
  readonly ok: boolean;
  /** Entries in the ledger. */
  readonly entries: number;
  /** Entries of the ledger, since its last clear, that the audit stream tells of. */
  readonly audited: number;
  readonly lost: { readonly from: number; readonly to: number }[];
  readonly unaudited: number;
  readonly repeated: number;
  readonly mismatches: number;
  readonly mismatched: { readonly index: number; readonly audited: string; readonly found: string }[];
  readonly contentRevision: number;
  readonly contentSha256Matches: boolean;
}

type Work = Pick<OperationContext, 'streams' | 'working'>;

/** Compares every entry of a ledger, word for word by digest, with what its audit stream says of it. */
export async function verifyPad(pad: PadRef, work: Work): Promise<Verification | Refusal<'not_found'>> {
  const content = await readContent(pad, work);
  if (isRefusal(content)) return content;
  if (!(await isSound(pad, work))) return refuse('not_found');
  const { ledger: list } = await work.working.keys.state(pad);
  if (!list) return refuse('not_found');
  const found = await compare(pad, list, await recordedEntries(pad.scratchpadId, work), work);
  const { lost, duplicates: repeated } =
    generationOf(await work.streams.load(ledger, pad.scratchpadId), list.generation) ?? nothing;
  const text = await work.streams.load(scratchpad, pad.scratchpadId);
  const contentSha256Matches = text.status === 'open' && !content.lost && content.sha256 === text.sha256;
  const { mismatched, ...counts } = found;
  return {
    ok: lost.length === 0 && found.unaudited === 0 && mismatched.length === 0 && contentSha256Matches,
    ...counts,
    lost: lost.slice(0, mostNamed).map(([from, to]) => ({ from, to })),
    repeated: sizeOf(repeated),
    mismatches: mismatched.length,
    mismatched: mismatched.slice(0, mostNamed),
    contentRevision: content.revision,
    contentSha256Matches,
  };
}

const nothing = { lost: [], repeated: [] };

interface RecordedEntry {
  readonly entryId: string;
  readonly sha256: string;
}

/** By era, what the stream tells of each index. */
type Telling = ReadonlyMap<number, ReadonlyMap<number, RecordedEntry>>;

async function recordedEntries(scratchpadId: string, { streams }: Work): Promise<Telling> {
  const eras = new Map<number, Map<number, RecordedEntry>>();
  for await (const { type, data } of streams.history(ledgerStream(scratchpadId))) {
    if (type === 'scratchpad.entries_cleared') {
      const { clears = 0 } = ledgerEvents[type].parse(data);
      for (const era of eras.keys()) if (era < clears) eras.delete(era);
    }
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears = 0, index, entryId, sha256: digest } = ledgerEvents[type].parse(data);
    const told = eras.get(clears) ?? new Map<number, RecordedEntry>();
    // An event that was stored twice says the same twice.
    if (!told.has(index)) told.set(index, { entryId, sha256: digest });
    eras.set(clears, told);
  }
  return eras;
}

async function compare(
  pad: PadRef,
  { clears, length }: { readonly clears: number; readonly length: number },
  telling: Telling,
  { working }: Work,
) {
  const told = telling.get(clears) ?? new Map<number, RecordedEntry>();
  const found = { entries: 0, audited: 0, unaudited: 0, mismatched: [] as Verification['mismatched'][number][] };
  for (let after = 0; after < length; after += pageSize) {
    const page = await working.ledger.read(pad, after, Math.min(pageSize, length - after));
    // Cleared meanwhile: what was there is gone, and nothing is wrong with that.
    if (page?.generation !== clears) break;
    for (const { index, id, content } of page.entries) {
      const audited = told.get(index);
      const digest = sha256(content);
      found.entries += 1;
      if (!audited) found.unaudited += 1;
      else if (audited.entryId === id && audited.sha256 === digest) found.audited += 1;
      else found.mismatched.push({ index, audited: audited.sha256, found: digest });
    }
  }
  return found;
}
