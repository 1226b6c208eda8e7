import { setTimeout as delay } from 'node:timers/promises';
import type {
  EventStore,
  StoredEvent,
  Subscription,
  SubscriptionListener,
} from '../../application/ports/event-store.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { openRead } from './calls.js';
import type { Connection } from './connection.js';
import { brief, discoveryFailed } from './failures.js';
import { SubscriptionBuffer } from './subscription-buffer.js';
import { subscribeRequest } from './read-wire.js';

/** The server sends a checkpoint once in this many times 32 events that are not ours. */
const checkpointEvery = 32;
/** Events read in one silence. */
const pageSize = 500;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** After so much silence the head position is read: a subscription can be dead without an error. */
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
    private readonly events: Pick<EventStore, 'headPosition' | 'readAll'>,
    private readonly log: Logger,
    after: bigint | undefined,
    private readonly listener: SubscriptionListener,
    private readonly types: readonly string[] | undefined,
  ) {
    this.position = after;
    this.done = this.run();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.done;
  }

  private async run(): Promise<void> {
    await Promise.resolve(); // The caller has the subscription before the first batch.
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
    const buffer = await this.connect();
    const { deferrable } = this.listener;
    try {
      while (!this.stopped.signal.aborted) {
        if (deferrable && buffer.hasMore()) await buffer.fill(deferrable.types, deferrable.ms, this.stopped.signal);
        const batch = this.selected(buffer.take());
        if (batch.length > 0) await this.deliver(batch);
        if (buffer.position() > (this.position ?? 0n)) this.position = buffer.position();
        const caughtUp = buffer.caughtUp();
        if (caughtUp !== undefined) this.listener.caughtUp?.(caughtUp);
        if (buffer.hasMore()) continue;
        if (buffer.isOver()) return buffer.throwFailure();
        if ((await buffer.wait(this.stopped.signal, silentForMs)) || !(await this.isBehind())) continue;
        // What made the head move may be on its way.
        if (!(await buffer.wait(this.stopped.signal, graceMs))) throw new Error('silent although the head moved');
      }
    } finally {
      buffer.close();
    }
  }

  /** The server selects by how a type begins. */
  private selected(batch: readonly StoredEvent[]): readonly StoredEvent[] {
    return this.types ? batch.filter(({ type }) => this.types?.includes(type)) : batch;
  }

  private async connect(): Promise<SubscriptionBuffer> {
    const request = subscribeRequest(this.position ?? 'start', checkpointEvery, this.types);
    return new SubscriptionBuffer(
      await openRead(this.connection, request),
      this.position ?? 0n,
      () => (this.pauseMs = firstPauseMs),
    );
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
    if (!this.types) return (await this.events.headPosition()) > (this.position ?? 0n);
    // The server says nothing of a few events of other types: as far as there is nothing else, the position moves on.
    const page = await this.events.readAll(this.position, pageSize);
    if (page.some(({ type }) => this.types?.includes(type))) return true;
    const last = page.at(-1);
    if (last) this.listener.caughtUp?.((this.position = last.position));
    return false;
  }

  private async pause(): Promise<void> {
    await delay(this.pauseMs, undefined, { signal: this.stopped.signal }).catch(() => undefined); // Stopped: no pause.
    this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs);
  }
}
