import { isMetastream, metastreamOf, ownerOf, TOMBSTONE_REVISION, type StoredEvent } from '../engine/events.js';
import type { ReadRange, Removal, Store, StoredHead } from './storage.js';

/** A store that forgets everything when the process ends. For tests, and to measure the protocol without a database. */
export function memoryStore(): Store {
  const all: StoredEvent[] = [];
  const streams = new Map<string, StoredEvent[]>();
  const lasts = new Map<string, number>();

  const head = (stream: string): StoredHead => ({
    last: lasts.get(stream) ?? -1,
    tombstoned: streams.get(stream)?.at(-1)?.revision === TOMBSTONE_REVISION,
    metaLast: lasts.get(metastreamOf(stream)) ?? -1,
    metadata: streams.get(metastreamOf(stream))?.at(-1)?.data,
  });

  return {
    heads: async (names) => names.map(head),
    async persist(events) {
      for (const event of events) {
        all.push(event);
        const stream = streams.get(event.stream);
        if (stream) stream.push(event);
        else streams.set(event.stream, [event]);
        lasts.set(event.stream, event.revision);
      }
    },
    readStream: async (stream, range) => pageOf(streams.get(stream) ?? [], (event) => event.revision, range),
    readAll: async (range) => pageOf(all, (event) => event.position, range),
    maxPosition: async () => all.at(-1)?.position ?? 0,
    claim: async () => ({ lost: new Promise(() => undefined) }),
    release: async () => undefined,
    truncatable: async (after, limit) =>
      [...new Set([...streams.entries()].filter(isTruncatable).map(([stream]) => ownerOf(stream)))]
        .filter((stream) => stream > after)
        .sort()
        .slice(0, limit),
    async remove(removal) {
      const gone = new Set((streams.get(removal.stream) ?? []).filter((event) => isRemoved(event, removal)));
      for (const events of [all, streams.get(removal.stream) ?? []]) {
        events.splice(0, events.length, ...events.filter((event) => !gone.has(event)));
      }
      return gone.size;
    },
    close: async () => undefined,
  };
}

const isTruncatable = ([stream, events]: [string, StoredEvent[]]): boolean =>
  isMetastream(stream) || events.at(-1)?.revision === TOMBSTONE_REVISION;

const isRemoved = (event: StoredEvent, { below, createdBefore }: Removal): boolean =>
  event.revision !== TOMBSTONE_REVISION &&
  (event.revision < below || (createdBefore !== undefined && event.created < createdBefore));

function pageOf(events: StoredEvent[], key: (event: StoredEvent) => number, range: ReadRange): StoredEvent[] {
  const { from, backwards, limit } = range;
  const start = firstAtOrAbove(events, key, from);
  if (!backwards) return events.slice(start, start + limit);
  const at = events[start];
  const end = at && key(at) === from ? start + 1 : start;
  return events.slice(Math.max(0, end - limit), end).reverse();
}

function firstAtOrAbove(events: StoredEvent[], key: (event: StoredEvent) => number, value: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const event = events[middle];
    if (event && key(event) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
