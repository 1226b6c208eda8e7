import type { EventStore } from '../ports/event-store.js';
import type { PersonalDataKeys } from '../ports/personal-data-keys.js';
import { decode, ownersOf, type DecodedEvent } from './codec.js';

/** Reads streams of any owner, decoded. */
export class DecodedStreams {
  constructor(
    private readonly eventStore: EventStore,
    private readonly personalDataKeys: PersonalDataKeys,
  ) {}

  /** Revision of the last event of a stream; -1 when it has none. */
  async lastRevision(stream: string): Promise<number> {
    return (await this.eventStore.lastEvent(stream))?.revision ?? -1;
  }

  /** At most `count` events of a stream, from a revision on. */
  async events(stream: string, from: number, count: number): Promise<readonly DecodedEvent[]> {
    const page = await this.eventStore.readStream(stream, from, count);
    const keys = await this.personalDataKeys.openingKeys(ownersOf(page));
    return page.map((event) => decode(event, keys));
  }
}
