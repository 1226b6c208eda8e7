import type { DecodedEvent } from '../event-sourcing/codec.js';
import type { StoredEvent } from '../ports/event-store.js';

/**
 * Event in, effect out. Called at least once for each event, in the order of the log, after the event is stored; so every
 * effect is idempotent. A rebuild of a read model calls none of them (docs/flows.md#reactions).
 */
export interface Reaction {
  readonly name: string;
  /** By event type. An effect that throws is tried again with back-off. */
  readonly on: Readonly<Record<string, (event: DecodedEvent) => Promise<void>>>;
  /** Called before the first event: whatever is remembered of an earlier turn may be behind by now. */
  readonly reset?: () => void;
  /** It reads no personal text: events come to it without any being opened. */
  readonly sealed?: true;
  /**
   * By event type, what the order of the log matters within: effects of neighbours that answer differently here may happen
   * at the same time. A type that is not listed waits for all before it, and all after it wait for it.
   */
  readonly partitionBy?: Readonly<Record<string, (event: StoredEvent) => string>>;
}
