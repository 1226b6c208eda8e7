import { ledgerEvents, scratchpadEvents } from '../../domain/scratchpad/events.js';
import { decode, ownersOf, Undecodable, type DecodedEvent } from '../event-sourcing/codec.js';
import type { OperationContext } from '../operation/context.js';
import { ledgerStream } from './ledger-names.js';
import type { LiveEvent } from '../operation/operation.js';
import { kindOf } from './entries/pages.js';
import type { IndexedEntry } from '../ports/ledger-store.js';
import type { PadRef } from '../ports/pad-keys.js';
import type { StoredEvent } from '../ports/event-store.js';
import type { ScratchpadStore } from '../ports/scratchpad-store.js';

type Work = Pick<OperationContext, 'live' | 'working' | 'subjects'>;

/** Events that are told together, and bytes of their words: so much is held at once for one listener who is slow. */
const mostEvents = 50;
const mostBytes = 256 * 1024;

/** What happens in a scratchpad after a position, as it is told to those who may read it; ends when the pad does. */
export async function* padEvents(pad: PadRef, after: bigint, work: Work, stopped: AbortSignal) {
  const streams = [`scratchpad-${pad.scratchpadId}`, ledgerStream(pad.scratchpadId)];
  for await (const batch of work.live.follow({ ownerId: pad.ownerId, streams, after }, stopped)) {
    for (const stretch of inChunks(batch)) {
      // All who are up to date have the same before them at the same moment.
      const name = ['told', pad.ownerId, pad.scratchpadId, ...stretch.map(({ position }) => position)].join(' ');
      for (const happening of await work.live.singleFlight(name, () => toLiveEvents(pad, stretch, work))) {
        yield happening;
        if (happening.event === 'scratchpad.deleted') return 'deleted';
      }
    }
  }
  return 'left';
}

async function toLiveEvents(pad: PadRef, batch: readonly StoredEvent[], work: Work): Promise<readonly LiveEvent[]> {
  const events = await decoded(batch, work);
  const words = await wordsOf(pad, events, work.working);
  return events.flatMap((event) => {
    const data = payloadOf(event, words);
    return data ? [{ id: event.position.toString(), event: event.type, data }] : [];
  });
}

function* inChunks(batch: readonly StoredEvent[]): Iterable<readonly StoredEvent[]> {
  let [stretch, bytes]: [StoredEvent[], number] = [[], 0];
  for (const event of batch) {
    const words = event.type === 'scratchpad.entry_appended' ? Number(event.data['bytes']) : 0;
    if (stretch.length === mostEvents || (stretch.length > 0 && bytes + words > mostBytes)) {
      yield stretch;
      [stretch, bytes] = [[], 0];
    }
    stretch.push(event);
    bytes += words;
  }
  if (stretch.length > 0) yield stretch;
}

/** What a later version wrote is left out: it would end every listener's events, and again after each resume. */
async function decoded(batch: readonly StoredEvent[], { subjects }: Work): Promise<readonly DecodedEvent[]> {
  const keys = await subjects.openingKeys(ownersOf(batch));
  return batch.flatMap((event) => {
    try {
      return [decode(event, keys)];
    } catch (fault) {
      if (fault instanceof Undecodable) return [];
      throw fault;
    }
  });
}

type Words = ReadonlyMap<string, IndexedEntry>;

/** What the events say, with the words where there are any. Nothing is told of events that only the system needs. */
function payloadOf({ type, data, at }: DecodedEvent, words: Words): Readonly<Record<string, unknown>> | undefined {
  switch (type) {
    case 'scratchpad.entry_appended': {
      const { entryId, kind, ...entry } = ledgerEvents[type].parse(data);
      const { content = null, fields = {}, at: createdAt = at } = words.get(entryId) ?? {};
      return { ...entry, id: entryId, kind: kindOf(kind), content, fields, createdAt };
    }
    case 'scratchpad.content_set':
      return { ...scratchpadEvents[type].parse(data), at };
    case 'scratchpad.content_cleared':
    case 'scratchpad.entries_cleared':
    case 'scratchpad.entries_lost':
    case 'scratchpad.updated':
    case 'scratchpad.deleted':
      return { ...data, at };
    default:
      return undefined;
  }
}

/** The words of the entries that these events tell of, by entry; those that were cleared meanwhile have none. */
async function wordsOf(pad: PadRef, events: readonly DecodedEvent[], working: ScratchpadStore): Promise<Words> {
  const indexes = events.flatMap(({ type, data }) =>
    type === 'scratchpad.entry_appended' ? [ledgerEvents[type].parse(data).index] : [],
  );
  const stretches = runsOfNeighbours(indexes);
  const read = await Promise.all(stretches.map(([from, to]) => working.ledger.read(pad, from - 1, to - from + 1)));
  return new Map(read.flatMap((found) => found?.entries ?? []).map((entry) => [entry.id, entry] as const));
}

/** The fewest stretches of neighbours that these indexes make. */
function runsOfNeighbours(indexes: readonly number[]): readonly (readonly [number, number])[] {
  const stretches: [number, number][] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const last = stretches.at(-1);
    if (last && index <= last[1] + 1) last[1] = index;
    else stretches.push([index, index]);
  }
  return stretches;
}
