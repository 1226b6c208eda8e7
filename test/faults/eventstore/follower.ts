import { START, type EventStoreDBClient, type Position } from '@eventstore/db-client';

export interface Seen {
  readonly stream: string;
  readonly id: string;
  readonly revision: number;
  readonly position: bigint;
}

/** Follows all events across every interruption, from the last one it has seen. */
export class Follower {
  readonly seen: Seen[] = [];
  interruptions = 0;
  private position: Position | typeof START = START;
  private following = true;
  private subscription: { unsubscribe(): Promise<void> } | undefined;

  constructor(private readonly client: EventStoreDBClient) {
    this.subscribe();
  }

  async stop(): Promise<void> {
    this.following = false;
    await this.subscription?.unsubscribe();
  }

  private subscribe(): void {
    if (!this.following) return;
    const subscription = this.client.subscribeToAll({ fromPosition: this.position });
    this.subscription = subscription;
    subscription.on('data', ({ event }) => {
      if (!event) return;
      this.position = event.position;
      const { streamId: stream, id, revision, position } = event;
      this.seen.push({ stream, id, revision: Number(revision), position: position.commit });
    });
    subscription.on('error', () => {
      this.interruptions += 1;
      setTimeout(() => this.subscribe(), 50);
    });
  }
}
