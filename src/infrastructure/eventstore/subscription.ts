import { excludeSystemEvents, START, type AllStreamResolvedEvent } from '@eventstore/db-client';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log, StoredEvent, Subscription, SubscriptionListener } from '../../application/ports.js';
import type { Connection } from './connection.js';
import { brief, discoveryFailed } from './failures.js';
import { storedEvent } from './stored-event.js';

const batchSize = 500;
/** The server speaks of stretches without our events once in this many times 32 events. */
const checkpointEvery = 32;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** After so much silence the head is looked at: a subscription can be dead and not say so (E1). */
const silentForMs = 3_000;
const graceMs = 1_000;

/** Follows all streams from a position on, through every loss of the connection. */
export class Follower implements Subscription {
  private readonly stopped = new AbortController();
  private readonly done: Promise<void>;
  private position: bigint | undefined;
  private pauseMs = firstPauseMs;

  constructor(
    private readonly connection: Connection,
    private readonly head: () => Promise<bigint>,
    private readonly log: Log,
    after: bigint | undefined,
    private readonly listener: SubscriptionListener,
  ) {
    this.position = after;
    this.done = this.run();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.done;
  }

  private async run(): Promise<void> {
    await Promise.resolve(); // Whoever subscribes holds the subscription before the first batch.
    while (!this.stopped.signal.aborted) {
      try {
        await this.follow();
      } catch (failure) {
        if (discoveryFailed(failure)) this.connection.renew('discovery failed');
        this.log.warn({ failure: brief(failure) }, 'subscription interrupted');
      }
      await this.pause();
    }
  }

  /** One subscription, until it ends, fails or is found dead. */
  private async follow(): Promise<void> {
    const live = await this.connect();
    try {
      while (!this.stopped.signal.aborted) {
        const batch = live.take();
        if (batch.length > 0) await this.deliver(batch);
        this.position = live.reached();
        const caughtUp = live.caughtUp();
        if (caughtUp !== undefined) this.listener.caughtUp?.(caughtUp);
        if (live.hasMore()) continue;
        if (live.isOver()) return live.throwFailure();
        if ((await live.news(this.stopped.signal, silentForMs)) || !(await this.isBehind())) continue;
        // What made the head move may be on its way.
        if (!(await live.news(this.stopped.signal, graceMs))) throw new Error('silent although the head moved');
      }
    } finally {
      live.close();
    }
  }

  private async connect(): Promise<LiveEvents> {
    const client = await this.connection.client();
    const live = new LiveEvents(this.position ?? 0n, () => (this.pauseMs = firstPauseMs));
    const fromPosition = this.position === undefined ? START : { commit: this.position, prepare: this.position };
    live.attach(
      client.subscribeToAll(
        {
          fromPosition,
          filter: excludeSystemEvents({
            checkpointInterval: checkpointEvery,
            checkpointReached: (_, { commit }) => live.checkpoint(commit),
          }),
        },
        { highWaterMark: batchSize },
      ),
    );
    return live;
  }

  /** The same batch again and again, until the listener takes it. */
  private async deliver(batch: readonly StoredEvent[]): Promise<void> {
    for (;;) {
      try {
        await this.listener.events(batch);
        this.pauseMs = firstPauseMs;
        return;
      } catch (failure) {
        this.log.error({ failure: brief(failure), position: String(batch[0]?.position) }, 'a listener failed');
        await this.pause();
        if (this.stopped.signal.aborted) throw failure;
      }
    }
  }

  private async isBehind(): Promise<boolean> {
    return (await this.head()) > (this.position ?? 0n);
  }

  private async pause(): Promise<void> {
    await delay(this.pauseMs, undefined, { signal: this.stopped.signal }).catch(() => undefined); // Stopped: no pause.
    this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs);
  }
}

type AllSubscription = ReturnType<Awaited<ReturnType<Connection['client']>>['subscribeToAll']>;

/**
 * A subscription read by hand: what has arrived is taken at once, what has not is held back by the stream's own buffer.
 * The server's marks run ahead of that buffer, so each is kept with the number of the event that it follows.
 */
class LiveEvents {
  private subscription: AllSubscription | undefined;
  private taken = 0;
  private readonly marks: { readonly after: number; readonly position: bigint | undefined }[] = [];
  private pendingCaughtUp: bigint | undefined;
  private over = false;
  private failure: unknown;
  private wake: (() => void) | undefined;

  constructor(
    private position: bigint,
    private readonly onHeard: () => void,
  ) {}

  attach(subscription: AllSubscription): void {
    const end = (failure: unknown) => {
      this.over = true;
      this.failure ??= failure;
      this.wake?.();
    };
    this.subscription = subscription
      .on('error', end)
      .on('end', () => end(undefined))
      .on('close', () => end(undefined))
      .on('readable', () => this.wake?.());
    subscription.on('confirmation', this.onHeard);
    // The client's types leave out that this is one more event of the same stream.
    (subscription as { on(event: 'caughtUp', listener: () => void): unknown }).on('caughtUp', () =>
      this.mark(undefined),
    );
  }

  checkpoint(position: bigint): void {
    this.mark(position);
  }

  /** Everything that has arrived, up to a batch; the store's own events are left out. */
  take(): StoredEvent[] {
    const batch: StoredEvent[] = [];
    while (batch.length < batchSize && !this.atMark()) {
      const resolved = this.subscription?.read() as AllStreamResolvedEvent | null | undefined; // Its only kind of object.
      if (!resolved) break;
      this.taken += 1;
      const event = storedEvent(resolved);
      if (event) batch.push(event);
      this.position = resolved.event?.position.commit ?? this.position;
    }
    while (this.atMark()) {
      this.position = max(this.marks.shift()?.position ?? this.position, this.position);
      this.pendingCaughtUp = this.position;
    }
    return batch;
  }

  /** The position up to which everything was taken. */
  reached(): bigint {
    return this.position;
  }

  /** The position to tell, once, after a mark was passed. */
  caughtUp(): bigint | undefined {
    const position = this.pendingCaughtUp;
    this.pendingCaughtUp = undefined;
    return position;
  }

  hasMore(): boolean {
    return (this.subscription?.readableLength ?? 0) > 0 || this.atMark();
  }

  isOver(): boolean {
    return this.over;
  }

  throwFailure(): void {
    if (this.failure !== undefined) throw this.failure as Error; // What the stream gave with its error event.
  }

  /** Waits for something to happen; false when nothing did for a while. */
  news(stopped: AbortSignal, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (heard: boolean) => {
        clearTimeout(silence);
        stopped.removeEventListener('abort', onStop);
        this.wake = undefined;
        // What came in the same piece of data is let in first, so that it makes one batch.
        if (heard) setImmediate(resolve, true);
        else resolve(false);
      };
      const onStop = () => settle(true);
      const silence = setTimeout(() => settle(false), withinMs);
      stopped.addEventListener('abort', onStop);
      this.wake = () => settle(true);
      if (this.over || this.hasMore() || stopped.aborted) settle(true);
    });
  }

  close(): void {
    const subscription = this.subscription;
    if (!subscription) return;
    subscription.on('error', () => undefined); // Whatever still comes is of no interest.
    subscription.unsubscribe().catch(() => undefined); // It never was connected.
  }

  private mark(position: bigint | undefined): void {
    this.marks.push({ after: this.taken + (this.subscription?.readableLength ?? 0), position });
    this.onHeard();
    this.wake?.();
  }

  private atMark(): boolean {
    const [next] = this.marks;
    return next !== undefined && next.after <= this.taken;
  }
}

const max = (a: bigint, b: bigint) => (a > b ? a : b);
