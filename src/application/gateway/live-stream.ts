import { WakeSignal } from '../kernel/concurrency/wake-signal.js';
import type { LiveEvent, LiveSource, Operation } from '../operation/operation.js';
import type { Metrics } from '../ports/telemetry.js';

/** What is sent: events, and at the end `done`, which has no position. */
export type LiveMessage =
  LiveEvent | { readonly id?: undefined; readonly event: 'done'; readonly data: { readonly reason: string } };

/** Why there are no more events, as `done` says it; operations add reasons of their own. */
export type EndReason = 'authorization_ended' | 'server_stopping' | 'unavailable';

/** How often the caller is asked for, of a principal that is known for 3 s: a revoked key receives nothing after 5 s. */
const askEveryMs = 1_500;
/** Without an answer for so long (the key's stream cannot be read) a caller counts as not allowed. */
const trustedForMs = 5_000;

/**
 * The events of one caller. They end with `done`, which says why; the listener may leave before (`return`).
 * Why no generator: one of those cannot be left while it waits for the next event.
 */
export class LiveStream implements AsyncIterableIterator<LiveMessage> {
  /** Where it begins: a listener that is cut off before the first event resumes after this position. */
  readonly after: bigint;
  private readonly stopped = new AbortController();
  private readonly source: AsyncGenerator<LiveEvent, string>;
  private pulling = false;
  private arrived: IteratorResult<LiveEvent, string> | undefined;
  private fault: { readonly thrown: unknown } | undefined;
  private reason: string | undefined;
  private over = false;
  private askedAt: number;
  private allowedAt: number;
  private readonly signal = new WakeSignal();

  constructor(
    private readonly operation: Operation,
    { after, open }: LiveSource,
    /** Throws when that cannot be known. */
    private readonly isStillAuthorized: () => Promise<boolean>,
    private readonly metrics: Metrics,
  ) {
    this.after = after;
    this.source = open(this.stopped.signal);
    this.askedAt = this.allowedAt = performance.now();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<LiveMessage, undefined>> {
    while (!this.hasEnded()) {
      this.pull();
      if (performance.now() - this.askedAt >= askEveryMs) await this.ask();
      if (this.hasEnded()) break; // Left while we asked.
      if (this.reason !== undefined) return this.done(this.reason);
      if (this.fault) {
        this.leave('fault');
        throw this.fault.thrown;
      }
      const { arrived } = this;
      this.arrived = undefined;
      if (arrived?.done) return this.done(arrived.value);
      // The schema of an events operation's output has the same members.
      if (arrived) return { done: false, value: this.operation.output.parse(arrived.value) as LiveEvent };
      await this.news();
    }
    return { done: true, value: undefined };
  }

  /** Ends it from this side, with a `done` that says why. */
  end(reason: EndReason): void {
    this.reason ??= reason;
    this.signal.wake();
  }

  return(): Promise<IteratorResult<LiveMessage, undefined>> {
    this.leave('left');
    return Promise.resolve({ done: true, value: undefined });
  }

  private hasEnded(): boolean {
    return this.over;
  }

  private done(reason: string): IteratorResult<LiveMessage, undefined> {
    this.leave(reason);
    return { done: false, value: { event: 'done', data: { reason } } };
  }

  private leave(reason: string): void {
    if (this.over) return;
    this.over = true;
    this.stopped.abort();
    // It was stopped; what it still yields, or fails with, concerns nobody.
    this.source.return('left').catch(() => undefined);
    this.metrics.count('palimpsest_live_replies_ended_total', { operation: this.operation.name, reason });
    this.signal.wake();
  }

  private pull(): void {
    if (this.pulling || this.arrived || this.fault) return;
    this.pulling = true;
    this.source
      .next()
      .then(
        (result) => (this.arrived = result),
        (thrown: unknown) => (this.fault = { thrown }),
      )
      .finally(() => {
        this.pulling = false;
        this.signal.wake();
      });
  }

  private async ask(): Promise<void> {
    this.askedAt = performance.now();
    try {
      if (await this.isStillAuthorized()) this.allowedAt = performance.now();
      else this.reason ??= 'authorization_ended';
    } catch {
      if (performance.now() - this.allowedAt >= trustedForMs) this.reason ??= 'unavailable';
    }
  }

  /** Waits until an event came, the stream was ended, or it is time to ask again whether the caller is authorized. */
  private async news(): Promise<void> {
    if (this.arrived || this.fault || this.reason !== undefined || this.over) return;
    await this.signal.wait({ ms: Math.max(0, this.askedAt + askEveryMs - performance.now()) });
  }
}
