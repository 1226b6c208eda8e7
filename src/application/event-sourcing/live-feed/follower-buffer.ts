import type { StoredEvent } from '../../ports/event-store.js';

/** So many events may wait for one follower; they are small, and shared among all who wait for them. */
const mostWaiting = 512;

/** What has come for one follower and was not taken yet. It never grows without end: too much is let go, all of it. */
export class FollowerBuffer {
  private waiting: StoredEvent[] = [];
  private overflowed = false;
  private wake: (() => void) | undefined;

  put(event: StoredEvent): void {
    if (this.waiting.length < mostWaiting && !this.overflowed) this.waiting.push(event);
    else {
      this.overflowed = true;
      this.waiting = [];
    }
    this.wake?.();
  }

  /** Everything that waits, oldest first; undefined when events were let go. Then it begins anew. */
  take(): readonly StoredEvent[] | undefined {
    const taken = this.overflowed ? undefined : this.waiting;
    this.waiting = [];
    this.overflowed = false;
    return taken;
  }

  /** Waits until there is something to take, or `stopped`. */
  news(stopped: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        this.wake = undefined;
        stopped.removeEventListener('abort', settle);
        resolve();
      };
      this.wake = settle;
      stopped.addEventListener('abort', settle);
      if (this.waiting.length > 0 || this.overflowed || stopped.aborted) settle();
    });
  }
}
