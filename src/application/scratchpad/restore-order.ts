import { randomUUID } from 'node:crypto';
import { ledgerEvents } from '../../domain/scratchpad/events.js';
import { ledger, type Era } from '../../domain/scratchpad/ledger.js';
import { highest, holds, rangesOf } from '../../domain/scratchpad/index-ranges.js';
import type { PadWork } from './lifecycle.js';
import { BackendUnavailable, type LedgerElements, type PadRef } from '../ports.js';
import { ledgerOf } from './ledger-names.js';
import { tellLost } from './ledger-events.js';

const pageSize = 500;
/** Writers of other processes may push between the reading and the moving; each try sees more of what they wrote. */
const maxAttempts = 20;

/**
 * Does the entry that was told of last, as far as the list reaches, stand where it was told? A server that takes back a
 * torn write only in memory may bring it back with its next start, and then everything after it has moved
 * (docs/decisions/0041-torn-transactions.md).
 */
export async function isAligned(pad: PadRef, era: Era, length: number, work: PadWork): Promise<boolean> {
  const index = lastToldUpTo(era, length);
  if (index === 0) return true;
  const entryId = await toldAt(pad.scratchpadId, era.clears, index, work);
  const page = await work.working.entries(pad, index - 1, 1);
  return entryId === undefined || page?.clears !== era.clears || page.entries.at(0)?.id === entryId;
}

/**
 * Puts every entry back where its event says it is; what is found nowhere is told to be lost. What was told to be lost and
 * is there again gets a new place at the end: it may be a retry of a writer, who was told that it stands.
 */
export async function realign(pad: PadRef, era: Era, work: PadWork): Promise<void> {
  const told = await toldOf(pad.scratchpadId, era.clears, work);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const list = await wholeLedger(pad, work);
    if (list?.clears !== era.clears) return;
    const { order, lost, forget } = arrangement(era, told, list);
    const system = work.streams.asSystem(randomUUID());
    for (const [from, to] of rangesOf(lost)) {
      await tellLost(pad.scratchpadId, { clears: era.clears, from, to, reason: 'moved' }, system);
    }
    if (await work.working.rearrange(pad, list, order, forget)) return;
  }
  throw new BackendUnavailable('redis');
}

/** The highest index that was told to hold an entry and is not beyond `length`; 0 when there is none. */
function lastToldUpTo({ told, lost, repeated }: Era, length: number): number {
  for (let index = Math.min(highest(told), length); index > 0; index -= 1) {
    if (holds(told, index) && !holds(lost, index) && !holds(repeated, index)) return index;
  }
  return 0;
}

async function toldAt(scratchpadId: string, era: number, place: number, { streams }: PadWork) {
  for await (const { type, data } of streams.newestFirst(ledger, scratchpadId)) {
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears = era, index, entryId } = ledgerEvents[type].parse(data);
    if (clears === era && index === place) return entryId;
  }
  return undefined;
}

/** By index, the entry that the stream tells of. */
async function toldOf(scratchpadId: string, era: number, { streams }: PadWork): Promise<ReadonlyMap<number, string>> {
  const told = new Map<number, string>();
  for await (const { type, data } of streams.history(ledgerOf(scratchpadId))) {
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears = era, index, entryId } = ledgerEvents[type].parse(data);
    if (clears === era && !told.has(index)) told.set(index, entryId);
  }
  return told;
}

/** Undefined when it was cleared or moved while it was read; the next try finds it in peace. */
async function wholeLedger(pad: PadRef, { working }: PadWork): Promise<LedgerElements | undefined> {
  const first = await working.entries(pad, 0, pageSize);
  if (!first) return undefined;
  const whole = { ...first, entries: [...first.entries], repeats: [...first.repeats] };
  for (let after = pageSize; after < first.length; after += pageSize) {
    const page = await working.entries(pad, after, Math.min(pageSize, first.length - after));
    whole.entries.push(...(page?.entries ?? []));
    whole.repeats.push(...(page?.repeats ?? []));
  }
  return whole;
}

/**
 * Old indexes in their right order, 0 for places that hold nothing. Entries that nobody told of yet take the places that
 * nobody told of, in their order, and then new ones.
 */
function arrangement(era: Era, told: ReadonlyMap<number, string>, { entries, repeats }: LedgerElements) {
  const where = new Map(entries.map(({ id, index }) => [id, index] as const).reverse());
  const known = new Set([...told].filter(([index]) => !holds(era.lost, index)).map(([, entryId]) => entryId));
  const untold = entries.filter(({ id }) => !known.has(id));
  const marks = repeats.map(({ index }) => index);
  const order: number[] = [];
  const lost: number[] = [];
  for (let index = 1; index <= highest(era.told); index += 1) {
    const entryId = told.get(index);
    if (holds(era.lost, index)) order.push(0);
    else if (holds(era.repeated, index)) order.push(marks.shift() ?? 0);
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
