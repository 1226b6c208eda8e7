import { weightOf, type ProposedEvent } from './events.js';
import { MAX_ARRIVING_BYTES } from './limits.js';

/** What has arrived of appends that are not complete yet, over all connections. */
export class Arriving {
  private bytes = 0;

  /** Makes room for what one append brings, piece by piece. */
  share(): Share {
    let held = 0;
    const change = (bytes: number): void => {
      held += bytes;
      this.bytes += bytes;
    };
    return {
      add: (events) => {
        change(events.reduce((sum, event) => sum + weightOf(event), 0));
        return this.bytes <= MAX_ARRIVING_BYTES;
      },
      giveBack: () => change(-held),
    };
  }
}

export interface Share {
  /** False when too much is arriving: the append should be refused. */
  add(events: readonly ProposedEvent[]): boolean;
  /** To be called however the append ends. */
  giveBack(): void;
}
