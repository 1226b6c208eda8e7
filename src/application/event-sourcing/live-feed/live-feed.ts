import { LRUCache } from 'lru-cache';
import type { EventStore, StoredEvent } from '../../ports/event-store.js';
import { catchUp } from './catch-up.js';
import { FollowerBuffer } from './follower-buffer.js';
import { everyEvent, ownerTopic, SharedSubscription, streamTopic } from './shared-subscription.js';

/** Events while they happen. However many follow them, a process reads the event store once for all. */
export interface LiveFeed {
  /** The position that a follower who begins now begins after. */
  position(): Promise<bigint>;
  /**
   * One owner's events of these streams after a position: the stored ones, then each new one soon after it is stored, in
   * batches, until stopped. Invariant: in the order of the event store, without gap or repetition; a slow follower slows no
   * other and fills no memory.
   */
  follow(selection: LiveSelection, stopped: AbortSignal): AsyncIterable<readonly StoredEvent[]>;
  /** The position now, then that of each latest event of an owner (undefined: of any owner), until stopped. */
  positions(ownerId: string | undefined, stopped: AbortSignal): AsyncIterable<bigint>;
  /** Shares work of this name among all who ask while it is in flight; nothing of it is kept. */
  singleFlight<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

export interface LiveSelection {
  readonly ownerId: string;
  readonly streams: readonly string[];
  /** Exclusive; 0n: from the first event on. */
  readonly after: bigint;
}

export interface RunningLiveFeed extends LiveFeed {
  close(): Promise<void>;
}

/** Makes a live feed that subscribes when it is first used. */
export const makeLiveFeed = (eventStore: EventStore): RunningLiveFeed => new SubscribedLiveFeed(eventStore);

/** A retry may store an event twice under one id, shortly after each other. */
const rememberedIds = 256;

/** Makes a filter that lets an id pass once. */
function newIds(): (id: string) => boolean {
  const recent = new LRUCache<string, true>({ max: rememberedIds });
  return (id) => {
    const isNew = !recent.has(id);
    if (isNew) recent.set(id, true);
    return isNew;
  };
}

class SubscribedLiveFeed implements RunningLiveFeed {
  private readonly inFlight = new Map<string, Promise<unknown>>();
  private opening: Promise<SharedSubscription> | undefined;

  constructor(private readonly eventStore: EventStore) {}

  async position(): Promise<bigint> {
    return (await this.subscription()).position;
  }

  async *follow({ ownerId, streams, after }: LiveSelection, stopped: AbortSignal) {
    const isNew = newIds();
    const subscription = await this.subscription();
    let last = after;
    while (!stopped.aborted) {
      for await (const batch of this.batches(subscription, streams, last, stopped)) {
        last = batch.at(-1)?.position ?? last;
        yield batch.filter(({ id, metadata }) => metadata['ownerId'] === ownerId && isNew(id));
      }
    }
  }

  async *positions(ownerId: string | undefined, stopped: AbortSignal) {
    const subscription = await this.subscription();
    const buffer = new FollowerBuffer();
    const topics = [ownerId === undefined ? everyEvent : ownerTopic(ownerId)];
    subscription.add(topics, buffer);
    try {
      yield subscription.position;
      for (;;) {
        await buffer.wait(stopped);
        if (stopped.aborted) return;
        yield buffer.take()?.at(-1)?.position ?? subscription.position;
      }
    } finally {
      subscription.remove(topics, buffer);
    }
  }

  singleFlight<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const flight = this.inFlight.get(name) ?? work().finally(() => this.inFlight.delete(name));
    this.inFlight.set(name, flight);
    return flight as Promise<Result>; // Under one name there is one kind of work.
  }

  async close(): Promise<void> {
    await (await this.opening?.catch(() => undefined))?.stop();
  }

  /** Ends when it is stopped, and when the follower was so slow that events were dropped: they are in the streams. */
  private async *batches(
    subscription: SharedSubscription,
    streams: readonly string[],
    after: bigint,
    stopped: AbortSignal,
  ): AsyncGenerator<readonly StoredEvent[], void> {
    const isStopped = () => stopped.aborted;
    const buffer = new FollowerBuffer();
    const topics = streams.map(streamTopic);
    // From here on every later event comes into the buffer, and every earlier one can be read: none is between.
    subscription.add(topics, buffer);
    try {
      let last = after;
      for await (const batch of catchUp(this.eventStore, streams, after, subscription.position)) {
        if (isStopped()) return;
        last = batch.at(-1)?.position ?? last;
        yield batch;
      }
      for (;;) {
        await buffer.wait(stopped);
        if (isStopped()) return;
        const batch = buffer.take();
        if (!batch) return;
        const fresh = batch.filter(({ position }) => position > last);
        last = fresh.at(-1)?.position ?? last;
        if (fresh.length > 0) yield fresh;
      }
    } finally {
      subscription.remove(topics, buffer);
    }
  }

  private subscription(): Promise<SharedSubscription> {
    this.opening ??= SharedSubscription.open(this.eventStore).catch((fault: unknown) => {
      this.opening = undefined;
      throw fault;
    });
    return this.opening;
  }
}
