import type { ProposedEvent, StoredEvent } from './events.js';
import { RECENT_IDS } from './limits.js';
import { Lru } from './lru.js';

interface Place {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
}

/** Ids written lately, by which a repeated append is known when its writer states no revision. */
export class RecentIds {
  private readonly places = new Lru<Place>(RECENT_IDS);

  add({ id, stream, revision, position }: StoredEvent): void {
    this.places.set(id, { stream, revision, position });
  }

  /** 'new' when the first is not known, the last one's place when all are, 'mixed' otherwise. */
  find(stream: string, events: readonly ProposedEvent[]): 'new' | 'mixed' | Place {
    let place: Place | undefined;
    for (const [index, event] of events.entries()) {
      const known = this.places.get(event.id);
      if (known?.stream !== stream) return index === 0 ? 'new' : 'mixed';
      place = known;
    }
    return place ?? 'new';
  }

  clear(): void {
    this.places.clear();
  }
}
