import type { AggregateStore } from './aggregate-store.js';
import type { DecodedEvent } from './codec.js';

/** The events of one owner's streams, opened and upcast. Another owner's stream is empty. */
export interface EventReader {
  /** Oldest first. */
  forwards(stream: string): AsyncIterable<DecodedEvent>;
  /** Newest first, from the end that is stored now. */
  backwards(stream: string): AsyncIterable<DecodedEvent>;
  /** The event at a revision. */
  at(stream: string, revision: number): Promise<DecodedEvent | undefined>;
}

/** Events read at once. */
const pageSize = 500;
/** Most readers from the end want one of the last. */
const firstPageSize = 32;

export class OwnerEventReader implements EventReader {
  constructor(
    private readonly store: AggregateStore,
    private readonly ownerId: string,
  ) {}

  async *forwards(stream: string): AsyncIterable<DecodedEvent> {
    for (let from = 0; ; from += pageSize) {
      const page = await this.store.events(stream, from, pageSize);
      yield* page.filter((event) => this.isOwn(event));
      if (page.length < pageSize) return;
    }
  }

  async *backwards(stream: string): AsyncIterable<DecodedEvent> {
    let size = firstPageSize;
    for (let end = (await this.store.lastRevision(stream)) + 1; end > 0; end -= size, size = pageSize) {
      const from = Math.max(0, end - size);
      const page = await this.store.events(stream, from, end - from);
      yield* page.filter((event) => this.isOwn(event)).reverse();
    }
  }

  async at(stream: string, revision: number): Promise<DecodedEvent | undefined> {
    const [event] = await this.store.events(stream, revision, 1);
    return event && this.isOwn(event) ? event : undefined;
  }

  private isOwn({ metadata }: DecodedEvent): boolean {
    return metadata.ownerId === this.ownerId;
  }
}
