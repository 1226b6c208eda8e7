import { WakeSignal } from '../../kernel/concurrency/wake-signal.js';
import type { StoredEvent } from '../../ports/event-store.js';

/** So many events may wait for one follower; they are small, and shared among all followers that wait for them. */
const maxWaiting = 512;

/** Keeps the events of one follower until it takes them. Invariant: when too many wait, all of them are dropped. */
export class FollowerBuffer {
  private waiting: StoredEvent[] = [];
  private hasOverflowed = false;
  private readonly arrival = new WakeSignal();

  put(event: StoredEvent): void {
    if (this.waiting.length < maxWaiting && !this.hasOverflowed) this.waiting.push(event);
    else {
      this.hasOverflowed = true;
      this.waiting = [];
    }
    this.arrival.wake();
  }

  /** Takes all that waits, oldest first; undefined when events were dropped. Then it begins anew. */
  take(): readonly StoredEvent[] | undefined {
    const taken = this.hasOverflowed ? undefined : this.waiting;
    this.waiting = [];
    this.hasOverflowed = false;
    return taken;
  }

  /** Waits until there is something to take, or `stopped`. */
  async wait(stopped: AbortSignal): Promise<void> {
    if (this.waiting.length === 0 && !this.hasOverflowed) await this.arrival.wait({ stopped });
  }
}
