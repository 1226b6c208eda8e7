import { WrongRevision } from '../../application/faults/errors.js';
import { WakeSignal } from '../../application/kernel/concurrency/wake-signal.js';
import type {
  Appended,
  EventStore,
  Expected,
  NewEvent,
  StoredEvent,
  Subscription,
  SubscriptionListener,
} from '../../application/ports/event-store.js';
import type { LogProbe } from '../../application/ports/log-binding.js';

const batchSize = 500;
/** Distance between positions: they are offsets of the event store, so nobody may count with them. */
const spacing = 64n;
/** How many of the latest events `any` recognises by their ids; a real event store promises no more. */
const recognised = 1_000;
const retryListenerAfterMs = 5;

/** An event store without a server: exact expectations, retries recognised by their ids, sparse positions. */
export class MemoryEventStore implements EventStore, LogProbe {
  private readonly all: StoredEvent[] = [];
  private readonly streams = new Map<string, StoredEvent[]>();
  private readonly arrival = new WakeSignal();

  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended> {
    if (events.length === 0) return Promise.reject(new RangeError('There is nothing to append.'));
    const stored = this.streams.get(stream) ?? [];
    const earlier = expected === 'any' ? this.recent(stored, events) : this.retried(stored, expected, events);
    if (earlier) return Promise.resolve({ revision: earlier.revision, position: earlier.position });
    if (expected !== 'any' && stored.length - 1 !== (expected === 'none' ? -1 : expected)) {
      return Promise.reject(new WrongRevision(stream));
    }
    return Promise.resolve(this.store(stream, stored, events));
  }

  readStream(stream: string, from = 0, limit = Infinity): Promise<readonly StoredEvent[]> {
    return Promise.resolve((this.streams.get(stream) ?? []).slice(from, from + limit));
  }

  lastEvent(stream: string): Promise<StoredEvent | undefined> {
    return Promise.resolve(this.streams.get(stream)?.at(-1));
  }

  readAll(after: bigint | undefined, limit: number): Promise<readonly StoredEvent[]> {
    return Promise.resolve(this.after(after, limit));
  }

  headPosition(): Promise<bigint> {
    return Promise.resolve(this.all.at(-1)?.position ?? 0n);
  }

  endPosition(): Promise<bigint> {
    return Promise.resolve(this.all.at(-1)?.position ?? -1n);
  }

  subscribe(after: bigint | undefined, listener: SubscriptionListener, types?: readonly string[]): Subscription {
    const stop = new AbortController();
    const wanted = ({ type }: StoredEvent) => !types || types.includes(type);
    const selective: SubscriptionListener = {
      events: async (batch) => {
        if (batch.some(wanted)) await listener.events(batch.filter(wanted));
      },
      caughtUp: (position) => listener.caughtUp?.(position),
    };
    const done = this.deliver(after, selective, stop.signal);
    return {
      async stop() {
        stop.abort();
        await done;
      },
    };
  }

  private store(stream: string, stored: StoredEvent[], events: readonly NewEvent[]): Appended {
    let position = this.all.at(-1)?.position ?? 0n;
    for (const event of events) {
      position += spacing;
      const kept = { ...asJson(event), stream, revision: stored.length, position };
      stored.push(kept);
      this.all.push(kept);
    }
    this.streams.set(stream, stored);
    this.arrival.wake();
    return { revision: stored.length - 1, position };
  }

  /** A retry of what is stored right after the expected revision is answered with its first outcome. */
  private retried(stored: readonly StoredEvent[], expected: 'none' | number, events: readonly NewEvent[]) {
    const from = expected === 'none' ? 0 : expected + 1;
    return sameIds(stored, from, events) ? stored[from + events.length - 1] : undefined;
  }

  private recent(stored: readonly StoredEvent[], events: readonly NewEvent[]) {
    const [first] = events;
    const from = stored.findLastIndex(({ id }) => id === first?.id);
    const known = from >= 0 && sameIds(stored, from, events) ? stored[from + events.length - 1] : undefined;
    const oldest = this.all.at(-recognised)?.position ?? 0n;
    return known && known.position >= oldest ? known : undefined;
  }

  private after(position: bigint | undefined, limit: number): readonly StoredEvent[] {
    if (position === undefined) return this.all.slice(0, limit);
    let [low, high] = [0, this.all.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.all[middle]?.position ?? 0n) > position) high = middle;
      else low = middle + 1;
    }
    return this.all.slice(low, low + limit);
  }

  private async deliver(after: bigint | undefined, listener: SubscriptionListener, stopped: AbortSignal) {
    let last = after;
    let reported: bigint | undefined;
    await Promise.resolve(); // The caller has the subscription before the first batch.
    while (!stopped.aborted) {
      const batch = this.after(last, batchSize);
      if (batch.length > 0) {
        if (await delivered(batch, listener, stopped)) last = batch.at(-1)?.position;
        continue;
      }
      if (reported !== (last ?? 0n)) {
        reported = last ?? 0n;
        listener.caughtUp?.(reported);
      }
      await this.arrival.wait({ stopped });
    }
  }
}

async function delivered(
  batch: readonly StoredEvent[],
  listener: SubscriptionListener,
  stopped: AbortSignal,
): Promise<boolean> {
  try {
    await listener.events(batch);
    return true;
  } catch {
    // The listener is called again with the same batch; it reports its own faults.
    if (!stopped.aborted) await new Promise((resolve) => setTimeout(resolve, retryListenerAfterMs));
    return false;
  }
}

const sameIds = (stored: readonly StoredEvent[], from: number, events: readonly NewEvent[]): boolean =>
  events.every(({ id }, index) => stored[from + index]?.id === id);

/** What a store that keeps JSON gives back: a copy, without what JSON does not carry. */
const asJson = (event: NewEvent): NewEvent =>
  JSON.parse(
    JSON.stringify({ id: event.id, type: event.type, data: event.data, metadata: event.metadata }),
  ) as NewEvent; // It was one before it was written.
