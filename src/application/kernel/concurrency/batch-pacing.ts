/** With fewer in a batch than this there is nothing to be gained by waiting for more. */
const FEW = 4;
const LONGEST_WAIT = 1;
/** How much of a batch's size the next one is expected to have at least, so that the waits end soon after a rush has. */
const FADING = 0.8;

/**
 * Decides when a batch leaves: one that is smaller than the batch before waits for more, a millisecond at most.
 * Why: callers that were answered with one batch often ask again at once, and many small batches cost more than a few large
 * ones.
 */
export class BatchPacing {
  private expected = 0;
  private waiting: NodeJS.Timeout | undefined;

  /** Notes the size of a batch that left. */
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
