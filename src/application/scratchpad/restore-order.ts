import { randomUUID } from 'node:crypto';
import { ledgerEvents } from '../../domain/scratchpad/events.js';
import { contains, highest, rangesOf } from '../../domain/scratchpad/index-ranges.js';
import type { Generation } from '../../domain/scratchpad/ledger.js';
import type { OwnerStreams } from '../event-sourcing/owner-streams.js';
import { BackendUnavailable } from '../faults/errors.js';
import type { LedgerElements } from '../ports/ledger-store.js';
import type { PadRef } from '../ports/pad-keys.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';
import { ledgerStream, recordLost } from './ledger-events.js';

export interface Restoring {
  readonly ref: PadRef;
  readonly streams: OwnerStreams;
  readonly store: ScratchpadStore;
}

const pageSize = 500;
/** Writers of other processes may push between the read and the reorder; each attempt sees more of what they wrote. */
const maxAttempts = 20;

/**
 * Answers whether the entry that was recorded last, as far as the list reaches, stands where it was recorded.
 * Why: a server that drops a torn write only in memory may bring it back with its next start, and then every entry after
 * it has moved (docs/decisions/0041-torn-transactions.md).
 */
export async function isInRecordedOrder(
  { ref, streams, store }: Restoring,
  generation: Generation,
  length: number,
): Promise<boolean> {
  const index = lastRecordedUpTo(generation, length);
  if (index === 0) return true;
  const entryId = await recordedIdAt(streams, ref.scratchpadId, generation.number, index);
  const page = await store.ledger.read(ref, index - 1, 1);
  return entryId === undefined || page?.generation !== generation.number || page.entries.at(0)?.id === entryId;
}

/**
 * Restores the recorded order of a ledger. Invariant: a recorded index names the same entry or none. Entries found nowhere
 * are recorded as lost; an entry recorded as lost that is present again moves to the end, because its writer may have been
 * acknowledged (docs/flows.md#restore-order).
 * Fails when: 20 attempts collide with writers → BackendUnavailable.
 */
export async function restoreOrder({ ref, streams, store }: Restoring, generation: Generation): Promise<void> {
  const recorded = await recordedIdsByIndex(streams, ref.scratchpadId, generation.number);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const list = await wholeLedger(ref, store);
    if (list?.generation !== generation.number) return;
    const { order, lost, forget } = planOrder(generation, recorded, list);
    const system = streams.asSystem(randomUUID());
    for (const [from, to] of rangesOf(lost)) {
      await recordLost(system, ref.scratchpadId, { generation: generation.number, from, to, reason: 'moved' });
    }
    if (await store.repair.reorder(ref, list, order, forget)) return;
  }
  throw new BackendUnavailable('redis');
}

/** The highest index up to `length` that was recorded to hold an entry; 0 when there is none. */
function lastRecordedUpTo({ covered, lost, duplicates }: Generation, length: number): number {
  for (let index = Math.min(highest(covered), length); index > 0; index -= 1) {
    if (contains(covered, index) && !contains(lost, index) && !contains(duplicates, index)) return index;
  }
  return 0;
}

async function recordedIdAt({ events }: OwnerStreams, scratchpadId: string, generation: number, place: number) {
  for await (const { type, data } of events.backwards(ledgerStream(scratchpadId))) {
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears: recordedIn = generation, index, entryId } = ledgerEvents[type].parse(data);
    if (recordedIn === generation && index === place) return entryId;
  }
  return undefined;
}

async function recordedIdsByIndex(
  { events }: OwnerStreams,
  scratchpadId: string,
  generation: number,
): Promise<ReadonlyMap<number, string>> {
  const recorded = new Map<number, string>();
  for await (const { type, data } of events.forwards(ledgerStream(scratchpadId))) {
    if (type !== 'scratchpad.entry_appended') continue;
    const { clears: recordedIn = generation, index, entryId } = ledgerEvents[type].parse(data);
    if (recordedIn === generation && !recorded.has(index)) recorded.set(index, entryId);
  }
  return recorded;
}

/** The whole list, page by page. A clear or a move between pages makes the reorder fail, and the next attempt reads anew. */
async function wholeLedger(ref: PadRef, { ledger }: ScratchpadStore): Promise<LedgerElements | undefined> {
  const first = await ledger.read(ref, 0, pageSize);
  if (!first) return undefined;
  const whole = { ...first, entries: [...first.entries], duplicates: [...first.duplicates] };
  for (let after = pageSize; after < first.length; after += pageSize) {
    const page = await ledger.read(ref, after, Math.min(pageSize, first.length - after));
    whole.entries.push(...(page?.entries ?? []));
    whole.duplicates.push(...(page?.duplicates ?? []));
  }
  return whole;
}

/**
 * Plans the order: old indexes in their recorded places, 0 for a hole. Entries that are not recorded take the places that
 * are not recorded, in their order, and then new ones.
 */
function planOrder(
  { covered, lost: knownLost, duplicates }: Generation,
  recorded: ReadonlyMap<number, string>,
  list: Pick<LedgerElements, 'entries' | 'duplicates'>,
) {
  const { entries } = list;
  const indexOf = new Map(entries.map(({ id, index }) => [id, index] as const).reverse());
  const known = new Set([...recorded].filter(([index]) => !contains(knownLost, index)).map(([, entryId]) => entryId));
  const unrecorded = entries.filter(({ id }) => !known.has(id));
  const marks = list.duplicates.map(({ index }) => index);
  const order: number[] = [];
  const lost: number[] = [];
  for (let index = 1; index <= highest(covered); index += 1) {
    const entryId = recorded.get(index);
    if (contains(knownLost, index)) order.push(0);
    else if (contains(duplicates, index)) order.push(marks.shift() ?? 0);
    else {
      const found = entryId === undefined ? unrecorded.shift()?.index : indexOf.get(entryId);
      if (found === undefined) lost.push(index);
      order.push(found ?? 0);
    }
  }
  order.push(...unrecorded.map(({ index }) => index));
  const placeOf = new Map(order.map((old, at) => [old, at + 1]));
  // What an idempotency key remembers of these is no longer true: asked for again, the entry is pushed again.
  const moved = entries.filter(({ id, index }) => placeOf.get(index) !== index && !known.has(id));
  const dropped = entries.filter(({ id }) => !placeOf.has(indexOf.get(id) ?? 0));
  return { order, lost, forget: [...new Set([...moved, ...dropped].map(({ id }) => id))] };
}
