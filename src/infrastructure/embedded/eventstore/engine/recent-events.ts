import { weightOf, type StoredEvent } from './events.js';
import { RECENT_BYTES, RECENT_EVENTS } from './limits.js';

interface Block {
  readonly events: readonly StoredEvent[];
  readonly last: number;
  readonly bytes: number;
}

/** The events committed last, for subscribers at the tip. Bounded; whoever is slower reads from storage. */
export class RecentEvents {
  private blocks: Block[] = [];
  private bytes = 0;
  private count = 0;
  /** Everything above this position is here. */
  private floor = 0;

  reset(position: number): void {
    this.blocks = [];
    this.bytes = 0;
    this.count = 0;
    this.floor = position;
  }

  /** Adds the events of one commit. */
  push(events: readonly StoredEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    const bytes = events.reduce((sum, event) => sum + weightOf(event), 0);
    this.blocks.push({ events, last: last.position, bytes });
    this.bytes += bytes;
    this.count += events.length;
    while (this.bytes > RECENT_BYTES || this.count > RECENT_EVENTS) this.drop();
  }

  /**
   * The next few events above `position`, none when there are none yet, undefined when they are no longer here.
   * Whoever follows closely gets the very array of a commit.
   */
  after(position: number): readonly StoredEvent[] | undefined {
    if (position < this.floor) return undefined;
    const block = this.blocks[this.firstAbove(position)];
    if (!block) return [];
    const first = block.events[0];
    return first && first.position > position
      ? block.events
      : block.events.filter((event) => event.position > position);
  }

  private firstAbove(position: number): number {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.blocks[middle]?.last ?? Infinity) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private drop(): void {
    const oldest = this.blocks.shift();
    if (!oldest) return;
    this.bytes -= oldest.bytes;
    this.count -= oldest.events.length;
    this.floor = oldest.last;
  }
}
