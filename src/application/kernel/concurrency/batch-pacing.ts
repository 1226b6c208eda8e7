/** With fewer in a group than this there is nothing to be gained by waiting for more. */
const FEW = 4;
const LONGEST_WAIT = 1;
/** How much of a group's size the next one is expected to have at least: so the wait ends soon after a rush has. */
const FADING = 0.8;

/**
 * Says when a group of requests is to go, as to be committed. Whoever was answered with the last group often asks again at
 * once, so the next waits for as many, a millisecond at most: many small groups cost more than a few large ones.
 */
export class BatchPacing {
  private expected = 0;
  private waiting: NodeJS.Timeout | undefined;

  /** A group of this many requests is on its way. */
  sent(requests: number): void {
    this.expected = Math.max(requests, this.expected * FADING);
  }

  /** Calls back at once, or after a short while in which more may come; asked again meanwhile, it decides anew. */
  when(requests: number, go: () => void): void {
    if (requests >= this.expected || this.expected < FEW) {
      clearTimeout(this.waiting);
      this.waiting = undefined;
      go();
      return;
    }
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      go();
    }, LONGEST_WAIT);
  }
}
