import type { StoredEvent } from '../../application/ports/event-store.js';
import type { IncomingCall } from './calls.js';
import type { ReadAnswer } from './read-wire.js';

const batchSize = 500;

/**
 * What one subscription has sent and nobody has taken yet, in order. When a batch is waiting the call is paused, so that
 * a slow listener slows the server and fills no memory.
 */
export class LiveEvents {
  private arrived: ReadAnswer[] = [];
  private pendingCaughtUp: bigint | undefined;
  private over = false;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;

  /** `position` is where the subscription began; `onHeard` is called when the server shows that it is there. */
  constructor(
    private readonly call: IncomingCall<ReadAnswer>,
    private position: bigint,
    onHeard: () => void,
  ) {
    const end = (failure?: Error) => {
      this.over = true;
      this.failure ??= failure;
      this.wake?.();
    };
    call
      .on('data', (answer) => {
        onHeard();
        this.arrived.push(answer);
        if (this.arrived.length >= batchSize) call.pause();
        this.wake?.();
      })
      .on('error', end)
      .on('end', () => end());
  }

  /** Everything that has arrived, the store's own events left out. */
  take(): StoredEvent[] {
    const batch: StoredEvent[] = [];
    for (const { kind, event, position } of this.arrived) {
      if (event) batch.push(event);
      if (position !== undefined && position > this.position) this.position = position;
      if (kind === 'checkpoint' || kind === 'caught up') this.pendingCaughtUp = this.position;
    }
    this.arrived = [];
    this.call.resume();
    return batch;
  }

  /** The position up to which everything was taken. */
  reached(): bigint {
    return this.position;
  }

  /** The position to tell, once, after the server has said that there is nothing before it. */
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

  /** Waits, for so long at most, while nothing but a few events of these types has arrived. */
  gather(types: ReadonlySet<string>, ms: number, stopped: AbortSignal): Promise<void> {
    const mayWait = ({ event }: ReadAnswer) => event !== undefined && types.has(event.type);
    const isFull = () => this.over || stopped.aborted || this.arrived.length >= batchSize;
    if (isFull() || !this.arrived.every(mayWait)) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(late);
        stopped.removeEventListener('abort', settle);
        this.wake = undefined;
        resolve();
      };
      const late = setTimeout(settle, ms);
      stopped.addEventListener('abort', settle);
      this.wake = () => {
        const newest = this.arrived.at(-1);
        if (isFull() || !newest || !mayWait(newest)) settle();
      };
    });
  }

  close(): void {
    this.call.cancel();
  }
}
