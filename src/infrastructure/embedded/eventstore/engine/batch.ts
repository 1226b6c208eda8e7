import { sizeOf, type StoredEvent } from './events.js';
import type { Outcome } from './expectation.js';
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from './limits.js';

/** The head of a stream, as far as a batch marks it. */
interface Marked {
  pending: Batch | undefined;
}

/** What one commit will store, and the requests that wait for it. */
export class Batch {
  readonly events: StoredEvent[] = [];
  private readonly heads = new Set<Marked>();
  private readonly waiting: ((committed: boolean) => void)[] = [];
  private bytes = 0;
  /** Requests that wait for it. */
  requests = 0;

  get full(): boolean {
    return this.bytes >= MAX_BATCH_BYTES || this.events.length >= MAX_BATCH_EVENTS;
  }

  add(event: StoredEvent, head: Marked): void {
    this.events.push(event);
    this.bytes += sizeOf(event);
    this.touch(head);
  }

  private touch(head: Marked): void {
    head.pending = this;
    this.heads.add(head);
  }

  /** Answers with `outcome` once this batch is durable, and with 'unknown' if it fails. */
  answer(outcome: Outcome, answer: (outcome: Outcome) => void): void {
    this.requests += 1;
    this.waiting.push((committed) => answer(committed ? outcome : { kind: 'unknown' }));
  }

  /** Resolves when the batch is durable, or false when it failed. */
  settled(): Promise<boolean> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  settle(committed: boolean): void {
    for (const head of this.heads) if (head.pending === this) head.pending = undefined;
    for (const done of this.waiting) done(committed);
  }
}
