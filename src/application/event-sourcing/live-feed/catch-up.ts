import type { EventStore, StoredEvent } from '../../ports/event-store.js';

const pageSize = 200;

/** Reads the events of several streams after a position and up to another, merged in the order of the event store, in batches. */
export async function* catchUp(
  eventStore: EventStore,
  streams: readonly string[],
  after: bigint,
  upTo: bigint,
): AsyncIterable<readonly StoredEvent[]> {
  if (after >= upTo) return;
  const ends = await Promise.all(streams.map((stream) => Unread.open(eventStore, stream, after, upTo)));
  for (;;) {
    await Promise.all(ends.map((end) => end.fill()));
    const batch: StoredEvent[] = [];
    // When one stream's page is used up its next event is not known, and may come before the others'.
    while (ends.every((end) => end.isKnown())) {
      const [first, ...others] = ends.filter((end) => end.next() !== undefined);
      if (!first) break;
      const earliest = others.reduce((one, other) => (positionOf(other) < positionOf(one) ? other : one), first);
      batch.push(...earliest.take());
    }
    if (batch.length === 0) return;
    yield batch;
  }
}

const positionOf = (end: Unread): bigint => end.next()?.position ?? 0n;

/** Reads the rest of one stream, a page at a time. */
class Unread {
  private page: readonly StoredEvent[] = [];
  private place = 0;
  private isOver = false;

  private constructor(
    private readonly eventStore: EventStore,
    private readonly stream: string,
    private revision: number,
    private readonly upTo: bigint,
  ) {}

  static async open(eventStore: EventStore, stream: string, after: bigint, upTo: bigint): Promise<Unread> {
    return new Unread(eventStore, stream, await firstRevisionAfter(eventStore, stream, after), upTo);
  }

  async fill(): Promise<void> {
    if (this.isOver || this.place < this.page.length) return;
    const page = await this.eventStore.readStream(this.stream, this.revision, pageSize);
    this.page = page.filter(({ position }) => position <= this.upTo);
    this.place = 0;
    this.revision = (page.at(-1)?.revision ?? this.revision) + 1;
    this.isOver = page.length < pageSize || this.page.length < page.length;
  }

  isKnown(): boolean {
    return this.isOver || this.place < this.page.length;
  }

  next(): StoredEvent | undefined {
    return this.page[this.place];
  }

  take(): readonly StoredEvent[] {
    this.place += 1;
    return this.page.slice(this.place - 1, this.place);
  }
}

/**
 * Finds the revision of a stream's first event after a position, going back from the end in growing steps.
 * Why: a follower that comes back missed little of a stream that may be long.
 */
async function firstRevisionAfter(eventStore: EventStore, stream: string, after: bigint): Promise<number> {
  if (after <= 0n) return 0;
  const last = await eventStore.lastEvent(stream);
  if (!last || last.position <= after) return (last?.revision ?? -1) + 1;
  const isAfter = async (revision: number) => {
    const [event] = await eventStore.readStream(stream, revision, 1);
    return event !== undefined && event.position > after;
  };
  let [known, before] = [last.revision, -1];
  for (let step = 1; known > 0; step *= 2) {
    const probe = Math.max(0, known - step);
    if (!(await isAfter(probe))) {
      before = probe;
      break;
    }
    known = probe;
  }
  while (known - before > 1) {
    const middle = Math.floor((known + before) / 2);
    if (await isAfter(middle)) known = middle;
    else before = middle;
  }
  return known;
}
