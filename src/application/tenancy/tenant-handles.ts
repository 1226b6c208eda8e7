import type { LiveFeed, LiveSelection } from '../event-sourcing/live-feed/live-feed.js';
import type { StoredEvent } from '../ports/event-store.js';
import type { PersonalDataKey, PersonalDataKeys } from '../ports/personal-data-keys.js';

/** The key that an owner's personal text is sealed under. */
export class TenantPersonalData {
  constructor(
    private readonly keys: PersonalDataKeys,
    private readonly ownerId: string,
  ) {}

  /** Undefined: the owner was erased, or never had a key. */
  async openingKey(): Promise<PersonalDataKey | undefined> {
    return (await this.keys.openingKeys(new Set([this.ownerId]))).get(this.ownerId);
  }

  /** Erases all that was sealed under it, for good, in every process within 5 s. */
  destroy(): Promise<void> {
    return this.keys.destroy(this.ownerId);
  }
}

/** Events of one owner as they happen. */
export class TenantLiveFeed {
  constructor(
    private readonly feed: LiveFeed,
    private readonly ownerId: string,
  ) {}

  /** The position that a follower who begins now begins after. */
  position(): Promise<bigint> {
    return this.feed.position();
  }

  follow(selection: Omit<LiveSelection, 'ownerId'>, stopped: AbortSignal): AsyncIterable<readonly StoredEvent[]> {
    return this.feed.follow({ ...selection, ownerId: this.ownerId }, stopped);
  }

  /** The position now, then that of the owner's latest event whenever there is one. */
  positions(stopped: AbortSignal): AsyncIterable<bigint> {
    return this.feed.positions(this.ownerId, stopped);
  }
}
