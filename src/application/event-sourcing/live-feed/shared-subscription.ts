import type { EventStore, StoredEvent, Subscription } from '../../ports/event-store.js';
import type { FollowerBuffer } from './follower-buffer.js';

export const everyEvent = 'everything';
export const streamTopic = (stream: string) => `stream ${stream}`;
export const ownerTopic = (ownerId: unknown) => `owner ${String(ownerId)}`;

/** Subscribes once for the whole process and hands each event to the followers of its topics. */
export class SharedSubscription {
  private readonly followers = new Map<string, Set<FollowerBuffer>>();
  private readonly subscription: Subscription;

  private constructor(
    eventStore: EventStore,
    /** Everything up to it was handed out. */
    public position: bigint,
  ) {
    this.subscription = eventStore.subscribe(position, {
      events: (batch) => {
        for (const event of batch) this.hand(event);
        this.advance(batch.at(-1)?.position ?? this.position);
        return Promise.resolve();
      },
      caughtUp: (position) => this.advance(position),
    });
  }

  static async open(eventStore: EventStore): Promise<SharedSubscription> {
    return new SharedSubscription(eventStore, await eventStore.headPosition());
  }

  add(topics: readonly string[], follower: FollowerBuffer): void {
    for (const topic of topics) this.followers.set(topic, (this.followers.get(topic) ?? new Set()).add(follower));
  }

  remove(topics: readonly string[], follower: FollowerBuffer): void {
    for (const topic of topics) {
      const followers = this.followers.get(topic);
      followers?.delete(follower);
      if (followers?.size === 0) this.followers.delete(topic);
    }
  }

  stop(): Promise<void> {
    return this.subscription.stop();
  }

  private hand(event: StoredEvent): void {
    if (this.followers.size === 0) return;
    for (const topic of [streamTopic(event.stream), ownerTopic(event.metadata['ownerId']), everyEvent]) {
      for (const follower of this.followers.get(topic) ?? []) follower.put(event);
    }
  }

  private advance(position: bigint): void {
    if (position > this.position) this.position = position;
  }
}
