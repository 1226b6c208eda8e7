import { WrongRevision } from '../faults/errors.js';
import { Batcher } from '../kernel/concurrency/batcher.js';
import type { EventStore, NewEvent } from '../ports/event-store.js';

/** One append carries at most this many events; each is small (ids, sizes, digests), so this is far below 1 MiB. */
const maxEvents = 256;

type StreamBatcher = Batcher<readonly NewEvent[], bigint>;

/**
 * Appends facts whose order with others does not matter, in batches for each stream.
 * Invariant: one append to a stream is in flight at a time. Why: a busy ledger then costs one append for many entries.
 */
export class FactRecorder {
  private readonly batchers = new Map<string, StreamBatcher>();

  constructor(private readonly eventStore: EventStore) {}

  /** Position at or after which all of `events` are stored. Fails when: as `EventStore.append` does. */
  async append(stream: string, events: readonly NewEvent[]): Promise<bigint> {
    const batcher = this.batchers.get(stream) ?? this.batcherOf(stream);
    this.batchers.set(stream, batcher);
    try {
      return await batcher.add(events);
    } finally {
      if (batcher.isIdle) this.batchers.delete(stream);
    }
  }

  private batcherOf(stream: string): StreamBatcher {
    return new Batcher({
      max: maxEvents,
      sizeOf: (events) => events.length,
      run: (batch) => this.appendTogether(stream, batch),
    });
  }

  private async appendTogether(
    stream: string,
    batch: readonly (readonly NewEvent[])[],
  ): Promise<readonly (bigint | Promise<bigint>)[]> {
    try {
      const { position } = await this.eventStore.append(stream, 'any', batch.flat());
      return batch.map(() => position);
    } catch (fault) {
      // Some of the batch may be stored already, by a retry: the store tells them from the new ones only one by one.
      if (fault instanceof WrongRevision && batch.length > 1) return this.appendSingly(stream, batch);
      throw fault;
    }
  }

  private async appendSingly(
    stream: string,
    batch: readonly (readonly NewEvent[])[],
  ): Promise<readonly Promise<bigint>[]> {
    const outcomes: Promise<bigint>[] = [];
    for (const events of batch) {
      const outcome = this.eventStore.append(stream, 'any', events).then(({ position }) => position);
      outcomes.push(outcome);
      await outcome.catch(() => undefined); // The caller that waits for these events is rejected with it.
    }
    return outcomes;
  }
}
