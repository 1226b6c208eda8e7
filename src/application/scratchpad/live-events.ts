import { ledgerEvents, scratchpadEvents } from '../../domain/scratchpad/events.js';
import { decode, ownersOf, Undecodable, type DecodedEvent } from '../event-sourcing/codec.js';
import type { StoredEvent } from '../ports/event-store.js';
import type { IndexedEntry } from '../ports/ledger-store.js';
import { kindOf } from './entries/pages.js';
import { ledgerStream, padStream } from './ledger-events.js';
import type { PadContext, ScratchpadNeeds } from './pad-context.js';

/** An event as it is sent: `id` is the position to resume after, `event` a dotted name in the past tense. */
export interface PadEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Events sent together, and bytes of their words: so much is held at once for one slow listener. */
const mostEvents = 50;
const mostBytes = 256 * 1024;

export const streamsOf = (scratchpadId: string): readonly string[] => [
  padStream(scratchpadId),
  ledgerStream(scratchpadId),
];

/** Follows a pad after a position, until it is deleted or `stopped`; returns why it ended. */
export async function* followPad(
  pad: PadContext,
  needs: ScratchpadNeeds,
  after: bigint,
  stopped: AbortSignal,
): AsyncGenerator<PadEvent, string> {
  const { ownerId, scratchpadId } = pad.ref;
  const selection = { ownerId, streams: streamsOf(scratchpadId), after };
  for await (const batch of needs.live.follow(selection, stopped)) {
    for (const chunk of inChunks(batch)) {
      // All followers that are up to date have the same before them at the same moment.
      const name = ['pad events', ownerId, scratchpadId, ...chunk.map(({ position }) => position)].join(' ');
      for (const event of await needs.live.singleFlight(name, () => toPadEvents(pad, chunk, needs))) {
        yield event;
        if (event.event === 'scratchpad.deleted') return 'deleted';
      }
    }
  }
  return 'left';
}

async function toPadEvents(
  pad: PadContext,
  batch: readonly StoredEvent[],
  needs: ScratchpadNeeds,
): Promise<readonly PadEvent[]> {
  const events = await decoded(batch, needs);
  const words = await wordsOf(pad, events);
  return events.flatMap((event) => {
    const data = payloadOf(event, words);
    return data ? [{ id: event.position.toString(), event: event.type, data }] : [];
  });
}

function* inChunks(batch: readonly StoredEvent[]): Iterable<readonly StoredEvent[]> {
  let chunk: StoredEvent[] = [];
  let bytes = 0;
  for (const event of batch) {
    const words = event.type === 'scratchpad.entry_appended' ? Number(event.data['bytes']) : 0;
    if (chunk.length === mostEvents || (chunk.length > 0 && bytes + words > mostBytes)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(event);
    bytes += words;
  }
  if (chunk.length > 0) yield chunk;
}

/** Events of a later version are left out: one would end every listener's stream, and again after each resume. */
async function decoded(
  batch: readonly StoredEvent[],
  { personalDataKeys }: ScratchpadNeeds,
): Promise<readonly DecodedEvent[]> {
  const keys = await personalDataKeys.openingKeys(ownersOf(batch));
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

/** What an event says, with the words where there are any. Undefined: only the system needs the event. */
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

/** The words of the entries that these events name, by entry id; entries that were cleared meanwhile have none. */
async function wordsOf({ ref, store }: PadContext, events: readonly DecodedEvent[]): Promise<Words> {
  const indexes = events.flatMap(({ type, data }) =>
    type === 'scratchpad.entry_appended' ? [ledgerEvents[type].parse(data).index] : [],
  );
  const runs = runsOfNeighbours(indexes);
  const read = await Promise.all(runs.map(([from, to]) => store.ledger.read(ref, from - 1, to - from + 1)));
  return new Map(read.flatMap((found) => found?.entries ?? []).map((entry) => [entry.id, entry] as const));
}

/** The fewest runs of neighbours that these indexes make. */
function runsOfNeighbours(indexes: readonly number[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && index <= last[1] + 1) last[1] = index;
    else runs.push([index, index]);
  }
  return runs;
}
