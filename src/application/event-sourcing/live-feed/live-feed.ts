export type { LiveFeed, LiveSelection } from './feed.js';
import type { EventStore, StoredEvent, Subscription } from '../../ports/event-store.js';
import type { LiveFeed, LiveSelection } from './feed.js';
import { FollowerBuffer } from './follower-buffer.js';
import { catchUp } from './catch-up.js';

export interface RunningLiveFeed extends LiveFeed {
  close(): Promise<void>;
}

/** Follows the log from the first moment that somebody wants to hear of it, once for the whole process. */
export function makeLiveFeed(log: EventStore): RunningLiveFeed {
  const underWay = new Map<string, Promise<unknown>>();
  let tail: Promise<Tail> | undefined;
  const tailed = (): Promise<Tail> => {
    tail ??= Tail.begin(log).catch((fault: unknown) => {
      tail = undefined;
      throw fault;
    });
    return tail;
  };

  return {
    position: async () => (await tailed()).position,

    follow: async function* ({ ownerId, streams, after }: LiveSelection, stopped) {
      const told = new RecentIds();
      const own = (batch: readonly StoredEvent[]) =>
        batch.filter(({ id, metadata }) => metadata['ownerId'] === ownerId && told.isNew(id));
      const following = await tailed();
      const isStopped = () => stopped.aborted;
      let last = after;
      while (!isStopped()) {
        const inbox = new FollowerBuffer();
        const topics = streams.map(ofStream);
        // From here on every later event comes in, and every earlier one can be read: nothing is between.
        following.add(topics, inbox);
        try {
          for await (const batch of catchUp(log, streams, last, following.position)) {
            if (isStopped()) return;
            last = batch.at(-1)?.position ?? last;
            yield own(batch);
          }
          for (;;) {
            await inbox.news(stopped);
            if (isStopped()) return;
            const batch = inbox.take();
            if (!batch) break; // Too slow: what was let go is read from the streams.
            const fresh = batch.filter(({ position }) => position > last);
            last = fresh.at(-1)?.position ?? last;
            if (fresh.length > 0) yield own(fresh);
          }
        } finally {
          following.remove(topics, inbox);
        }
      }
    },

    positions: async function* (ownerId, stopped) {
      const following = await tailed();
      const inbox = new FollowerBuffer();
      const topics = [ownerId === undefined ? everything : ofOwner(ownerId)];
      following.add(topics, inbox);
      try {
        yield following.position;
        for (;;) {
          await inbox.news(stopped);
          if (stopped.aborted) return;
          yield inbox.take()?.at(-1)?.position ?? following.position;
        }
      } finally {
        following.remove(topics, inbox);
      }
    },

    singleFlight<Result>(name: string, work: () => Promise<Result>) {
      const shared = underWay.get(name) ?? work().finally(() => underWay.delete(name));
      underWay.set(name, shared);
      return shared as Promise<Result>; // Under one name there is one kind of work.
    },

    async close() {
      await (await tail?.catch(() => undefined))?.stop();
    },
  };
}

/** A retry may store an event twice under one id, one shortly after the other; it happened once. */
class RecentIds {
  private readonly ids = new Set<string>();

  isNew(id: string): boolean {
    if (this.ids.has(id)) return false;
    this.ids.add(id);
    if (this.ids.size > rememberedIds) {
      const [oldest] = this.ids;
      if (oldest !== undefined) this.ids.delete(oldest);
    }
    return true;
  }
}

const rememberedIds = 256;
const everything = 'everything';
const ofStream = (stream: string) => `stream ${stream}`;
const ofOwner = (ownerId: unknown) => `owner ${String(ownerId)}`;

/** The one subscription, and who wants which of its events. */
class Tail {
  private readonly inboxes = new Map<string, Set<FollowerBuffer>>();
  private readonly subscription: Subscription;

  private constructor(
    log: EventStore,
    /** Everything up to it was handed out. */
    public position: bigint,
  ) {
    this.subscription = log.subscribe(position, {
      events: (batch) => {
        for (const event of batch) this.hand(event);
        this.reach(batch.at(-1)?.position ?? this.position);
        return Promise.resolve();
      },
      caughtUp: (reached) => this.reach(reached),
    });
  }

  static begin = async (log: EventStore): Promise<Tail> => new Tail(log, await log.headPosition());

  add(topics: readonly string[], inbox: FollowerBuffer): void {
    for (const topic of topics) this.inboxes.set(topic, (this.inboxes.get(topic) ?? new Set()).add(inbox));
  }

  remove(topics: readonly string[], inbox: FollowerBuffer): void {
    for (const topic of topics) {
      const inboxes = this.inboxes.get(topic);
      inboxes?.delete(inbox);
      if (inboxes?.size === 0) this.inboxes.delete(topic);
    }
  }

  stop(): Promise<void> {
    return this.subscription.stop();
  }

  private hand(event: StoredEvent): void {
    if (this.inboxes.size === 0) return;
    for (const topic of [ofStream(event.stream), ofOwner(event.metadata['ownerId']), everything]) {
      for (const inbox of this.inboxes.get(topic) ?? []) inbox.put(event);
    }
  }

  private reach(position: bigint): void {
    if (position > this.position) this.position = position;
  }
}
