import type { EventStorage, ReadRange } from '../store/storage.js';
import { isMetastream, ownerOf, TOMBSTONE_REVISION, type StoredEvent } from './events.js';
import type { Head } from './head.js';
import { PAGE_EVENTS } from './limits.js';
import { lowestVisible, visibleSince } from './metadata.js';

/** How a stream looks to a reader. */
export interface View {
  readonly state: 'absent' | 'tombstoned' | 'readable';
  readonly last: number;
  readonly lowest: number;
  /** Events created before this time are not shown. */
  readonly since: number | undefined;
}

/** Reads streams as their metadata lets them be seen. All events are read as they are. */
export class StreamReader {
  constructor(
    private readonly storage: EventStorage,
    private readonly headOf: (stream: string) => Head | Promise<Head>,
  ) {}

  async view(stream: string): Promise<View> {
    const owner = ownerOf(stream);
    const found = this.headOf(owner);
    const head = found instanceof Promise ? await found : found;
    const last = head.tipOf(stream).last;
    if (head.tombstoned) return { state: 'tombstoned', last, lowest: 0, since: undefined };
    if (isMetastream(stream)) {
      return { state: last < 0 ? 'absent' : 'readable', last, lowest: last, since: undefined };
    }
    const state = last < 0 || head.truncation.softDeleted ? 'absent' : 'readable';
    const lowest = lowestVisible(head.truncation, last);
    return { state, last, lowest, since: visibleSince(head.truncation, Date.now()) };
  }

  /**
   * Pages of a stream's visible events from a revision on. The limit is what the caller wants in all, at most.
   * @param read Reads from storage; given by whoever can wait for a storage that is away.
   */
  pages(
    stream: string,
    view: View,
    range: ReadRange,
    read = (next: ReadRange): Promise<StoredEvent[]> => this.storage.readStream(stream, next),
  ): AsyncGenerator<StoredEvent[]> {
    const from = range.backwards ? Math.min(range.from, view.last) : Math.max(range.from, view.lowest);
    const within = (revision: number): boolean => revision <= view.last && revision >= view.lowest;
    const visible = (page: StoredEvent[]): StoredEvent[] => page.filter((event) => isVisible(event, view));
    return pagesOf({ ...range, from }, read, (event) => event.revision, within, visible);
  }

  /** Pages of all events from a position on. */
  allPages(range: ReadRange): AsyncGenerator<StoredEvent[]> {
    const read = (next: ReadRange): Promise<StoredEvent[]> => this.storage.readAll(next);
    return pagesOf(
      range,
      read,
      (event) => event.position,
      (position) => position > 0,
      (page) => page,
    );
  }

  /** The event that a link points to, unless it is gone. */
  async target(stream: string, revision: number): Promise<StoredEvent | undefined> {
    const view = await this.view(stream);
    if (view.state !== 'readable' || revision < view.lowest) return undefined;
    const [event] = await this.storage.readStream(stream, { from: revision, backwards: false, limit: 1 });
    return event?.revision === revision && isVisible(event, view) ? event : undefined;
  }
}

const isVisible = (event: StoredEvent, { lowest, since }: View): boolean =>
  event.revision >= lowest && event.revision < TOMBSTONE_REVISION && (since === undefined || event.created >= since);

async function* pagesOf(
  range: ReadRange,
  read: (range: ReadRange) => Promise<StoredEvent[]>,
  keyOf: (event: StoredEvent) => number,
  within: (key: number) => boolean,
  visible: (page: StoredEvent[]) => StoredEvent[],
): AsyncGenerator<StoredEvent[]> {
  const step = range.backwards ? -1 : 1;
  let wanted = range.limit;
  const fetch = (from: number): Promise<StoredEvent[]> | undefined =>
    within(from) ? read({ ...range, from, limit: Math.max(1, Math.min(wanted, PAGE_EVENTS)) }) : undefined;
  let next = fetch(range.from);
  while (next) {
    const all: StoredEvent[] = await next;
    const last = all.at(-1);
    if (last === undefined) return;
    const page = visible(all);
    wanted -= page.length;
    // The next page is fetched while this one is sent.
    next = wanted > 0 ? fetch(keyOf(last) + step) : undefined;
    next?.catch(() => undefined); // it is awaited above, if the reader goes on
    if (page.length > 0) yield page;
  }
}
