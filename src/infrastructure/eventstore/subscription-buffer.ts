import { setImmediate } from 'node:timers/promises';
import { WakeSignal } from '../../application/kernel/concurrency/wake-signal.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import type { IncomingCall } from './calls.js';
import type { ReadAnswer } from './read-wire.js';

const batchSize = 500;

/**
 * Keeps what one subscription has sent until it is taken, in order. When a batch is waiting the call is paused, so that a
 * slow listener slows the server and fills no memory.
 */
export class SubscriptionBuffer {
  private arrived: ReadAnswer[] = [];
  private pendingCaughtUp: bigint | undefined;
  private over = false;
  private failure: Error | undefined;
  private readonly arrival = new WakeSignal();

  /** `taken` is where the subscription began; `onHeard` is called when the server shows that it is there. */
  constructor(
    private readonly call: IncomingCall<ReadAnswer>,
    private taken: bigint,
    onHeard: () => void,
  ) {
    const end = (failure?: Error) => {
      this.over = true;
      this.failure ??= failure;
      this.arrival.wake();
    };
    call
      .on('data', (answer) => {
        onHeard();
        this.arrived.push(answer);
        if (this.arrived.length >= batchSize) call.pause();
        this.arrival.wake();
      })
      .on('error', end)
      .on('end', () => end());
  }

  /** Everything that has arrived, the store's own events left out. */
  take(): StoredEvent[] {
    const batch: StoredEvent[] = [];
    for (const { kind, event, position } of this.arrived) {
      if (event) batch.push(event);
      if (position !== undefined && position > this.taken) this.taken = position;
      if (kind === 'checkpoint' || kind === 'caught up') this.pendingCaughtUp = this.taken;
    }
    this.arrived = [];
    this.call.resume();
    return batch;
  }

  /** The position up to which everything was taken. */
  position(): bigint {
    return this.taken;
  }

  /** The position to report, once, after the server has said that there is nothing before it. */
  caughtUp(): bigint | undefined {
    const position = this.pendingCaughtUp;
    this.pendingCaughtUp = undefined;
    return position;
  }

  hasMore(): boolean {
    return this.arrived.length > 0;
  }

  isOver(): boolean {
    return this.over;
  }

  throwFailure(): void {
    if (this.failure) throw this.failure;
  }

  /** Waits for something to happen; false when nothing did for a while. */
  async wait(stopped: AbortSignal, ms: number): Promise<boolean> {
    const isSomething = this.over || this.hasMore() || (await this.arrival.wait({ stopped, ms }));
    // What came in the same piece of data is let in first, so that it makes one batch.
    if (isSomething) await setImmediate();
    return isSomething;
  }

  /** Waits, for `ms` at most, while nothing but a few events of these types has arrived. */
  async fill(types: ReadonlySet<string>, ms: number, stopped: AbortSignal): Promise<void> {
    const mayWait = ({ event }: ReadAnswer) => event !== undefined && types.has(event.type);
    const isFull = () => this.over || stopped.aborted || this.arrived.length >= batchSize;
    if (isFull() || !this.arrived.every(mayWait)) return;
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      if (!(await this.arrival.wait({ stopped, ms: left }))) return;
      const newest = this.arrived.at(-1);
      if (isFull() || !newest || !mayWait(newest)) return;
    }
  }

  close(): void {
    this.call.cancel();
  }
}
