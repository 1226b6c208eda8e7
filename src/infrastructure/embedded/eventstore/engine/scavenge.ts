import type { Removal, Scavengable } from '../store/storage.js';
import { metastreamOf, TOMBSTONE_REVISION } from './events.js';
import type { StreamReader, View } from './stream-reader.js';

export interface Scavenged {
  readonly streams: number;
  readonly events: number;
}

const PAGE = 200;

/**
 * Removes for good what no reader of its stream can see any more. Numbers and positions of what stays do not change,
 * and what is written meanwhile is never touched: a removal ends below revisions that were already taken.
 */
export async function scavenge(store: Scavengable, reader: StreamReader, mayGoOn: () => boolean): Promise<Scavenged> {
  let streams = 0;
  let events = 0;
  for (let page = await store.truncatable('', PAGE); page.length > 0;) {
    for (const stream of page) {
      if (!mayGoOn()) return { streams, events };
      const removed = await clean(store, stream, await reader.view(stream), await reader.view(metastreamOf(stream)));
      if (removed > 0) streams += 1;
      events += removed;
    }
    page = await store.truncatable(page.at(-1) ?? '', PAGE);
  }
  return { streams, events };
}

async function clean(store: Scavengable, stream: string, view: View, meta: View): Promise<number> {
  const below = view.state === 'readable' ? view.lowest : view.last + 1;
  const gone = view.state === 'tombstoned';
  return (
    (await removeAll(store, { stream, below: gone ? TOMBSTONE_REVISION : below, createdBefore: view.since })) +
    (await removeAll(store, {
      stream: metastreamOf(stream),
      below: gone ? TOMBSTONE_REVISION : meta.last,
      createdBefore: undefined,
    }))
  );
}

/** A removal is done in steps, so that none of them is long. */
async function removeAll(store: Scavengable, removal: Removal): Promise<number> {
  let all = 0;
  for (let removed = await store.remove(removal); removed > 0; removed = await store.remove(removal)) all += removed;
  return all;
}
