import { randomUUID } from 'node:crypto';
import { ledgerEvents } from '../../domain/scratchpad/events.js';
import { ledger, type Generation } from '../../domain/scratchpad/ledger.js';
import { highest, contains, rangesOf } from '../../domain/scratchpad/index-ranges.js';
import type { PadContext } from './lifecycle.js';
import { BackendUnavailable } from '../faults/errors.js';
import type { LedgerElements } from '../ports/ledger-store.js';
import type { PadRef } from '../ports/pad-keys.js';
import { ledgerStream } from './ledger-names.js';
import { recordLost } from './ledger-events.js';

const pageSize = 500;
/** Writers of other processes may push between the reading and the moving; each try sees more of what they wrote. */
const maxAttempts = 20;

/**
 * Does the entry that was told of last, as far as the list reaches, stand where it was told? A server that takes back a
 * torn write only in memory may bring it back with its next start, and then everything after it has moved
 * (docs/decisions/0041-torn-transactions.md).
 */
export async function isInRecordedOrder(
  pad: PadRef,
  era: Generation,
  length: number,
  work: PadContext,
): Promise<boolean> {
  const index = lastRecordedUpTo(era, length);
  if (index === 0) return true;
  const entryId = await recordedIdAt(pad.scratchpadId, era.number, index, work);
  const page = await work.working.ledger.read(pad, index - 1, 1);
  return entryId === undefined || page?.generation !== era.number || page.entries.at(0)?.id === entryId;
}

/**
 * Puts every entry back where its event says it is; what is found nowhere is told to be lost. What was told to be lost and
 * is there again gets a new place at the end: it may be a retry of a writer, who was told that it stands.
 */
export async function restoreOrder(pad: PadRef, era: Generation, work: PadContext): Promise<void> {
  const told = await recordedIdsByIndex(pad.scratchpadId, era.number, work);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const list = await wholeLedger(pad, work);
    if (list?.generation !== era.number) return;
    const { order, lost, forget } = planOrder(era, told, list);
    const system = work.streams.asSystem(randomUUID());
    for (const [from, to] of rangesOf(lost)) {
      await recordLost(pad.scratchpadId, { clears: era.number, from, to, reason: 'moved' }, system);
    }
    if (await work.working.repair.reorder(pad, list, order, forget)) return;
  }
  throw new BackendUnavailable('redis');
}

/** The highest index that was told to hold an entry and is not beyond `length`; 0 when there is none. */
function lastRecordedUpTo({ covered: told, lost, duplicates: repeated }: Generation, length: number): number {
  for (let index = Math.min(highest(told), length); index > 0; index -= 1) {
    if (contains(told, index) && !contains(lost, index) && !contains(repeated, index)) return index;
  }
  return 0;
}

async function recordedIdAt(scratchpadId: string, era: number, place: number, { streams }: PadContext) {
  for await (const { type, data } of streams.newestFirst(ledger, scratchpadId)) {
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears = era, index, entryId } = ledgerEvents[type].parse(data);
    if (clears === era && index === place) return entryId;
  }
  return undefined;
}

/** By index, the entry that the stream tells of. */
async function recordedIdsByIndex(
  scratchpadId: string,
  era: number,
  { streams }: PadContext,
): Promise<ReadonlyMap<number, string>> {
  const told = new Map<number, string>();
  for await (const { type, data } of streams.history(ledgerStream(scratchpadId))) {
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears = era, index, entryId } = ledgerEvents[type].parse(data);
    if (clears === era && !told.has(index)) told.set(index, entryId);
  }
  return told;
}

/** Undefined when it was cleared or moved while it was read; the next try finds it in peace. */
async function wholeLedger(pad: PadRef, { working }: PadContext): Promise<LedgerElements | undefined> {
  const first = await working.ledger.read(pad, 0, pageSize);
  if (!first) return undefined;
  const whole = { ...first, entries: [...first.entries], repeats: [...first.duplicates] };
  for (let after = pageSize; after < first.length; after += pageSize) {
    const page = await working.ledger.read(pad, after, Math.min(pageSize, first.length - after));
    whole.entries.push(...(page?.entries ?? []));
    whole.repeats.push(...(page?.duplicates ?? []));
  }
  return whole;
}

/**
 * Old indexes in their right order, 0 for places that hold nothing. Entries that nobody told of yet take the places that
 * nobody told of, in their order, and then new ones.
 */
function planOrder(
  era: Generation,
  told: ReadonlyMap<number, string>,
  { entries, duplicates: repeats }: LedgerElements,
) {
  const where = new Map(entries.map(({ id, index }) => [id, index] as const).reverse());
  const known = new Set([...told].filter(([index]) => !contains(era.lost, index)).map(([, entryId]) => entryId));
  const untold = entries.filter(({ id }) => !known.has(id));
  const marks = repeats.map(({ index }) => index);
  const order: number[] = [];
  const lost: number[] = [];
  for (let index = 1; index <= highest(era.covered); index += 1) {
    const entryId = told.get(index);
    if (contains(era.lost, index)) order.push(0);
    else if (contains(era.duplicates, index)) order.push(marks.shift() ?? 0);
    else {
      const found = entryId === undefined ? untold.shift()?.index : where.get(entryId);
      if (found === undefined) lost.push(index);
      order.push(found ?? 0);
    }
  }
  order.push(...untold.map(({ index }) => index));
  const place = new Map(order.map((old, at) => [old, at + 1]));
  // What a keyed append remembers of these is no longer true: asked for again, it is pushed again.
  const forget = entries.filter(({ id, index }) => place.get(index) !== index && !known.has(id));
  const dropped = entries.filter(({ id }) => !place.has(where.get(id) ?? 0));
  return { order, lost, forget: [...new Set([...forget, ...dropped].map(({ id }) => id))] };
}
