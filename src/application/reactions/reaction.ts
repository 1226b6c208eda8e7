import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { StoredEvent } from '../ports/event-store.js';

/**
 * The effects of events.
 * Invariant: each is called at least once, in the order of the log, after the event is stored; so every effect is
 * idempotent. A rebuild of a read model calls none of them (docs/flows.md#reactions).
 */
export interface Reaction {
  readonly name: string;
  /** By event type. An effect that throws is tried again with back-off. */
  readonly on: Readonly<Record<string, (event: DecodedEvent) => Promise<void>>>;
  /** Called before the first event of a run. Why: what an earlier run remembered may be out of date. */
  readonly reset?: () => void;
  /** False: it reads no personal text, so events are decoded without their owners' keys. Otherwise they are opened. */
  readonly needsPersonalData?: false;
  /**
   * By event type, the partition that the order of the log is kept within: effects of different partitions may happen at the
   * same time. A type that is not listed waits for all before it, and all after it wait for it.
   */
  readonly partitionBy?: Readonly<Record<string, (event: StoredEvent) => string>>;
}
