import { WrongRevision } from '../faults/errors.js';
import type { EventStore, NewEvent } from '../ports/event-store.js';

/** One append carries at most this many events; each is small (ids, sizes, digests), so this is far below 1 MiB. */
const mostAtOnce = 256;

interface Waiting {
  readonly events: readonly NewEvent[];
  readonly resolve: (position: bigint) => void;
  readonly reject: (fault: unknown) => void;
}

/**
 * Appends facts whose order with others does not matter. While one append to a stream is under way, what comes for the
 * same stream gathers and goes as the next one, so that a hot ledger costs one append for many entries.
 */
export class FactRecorder {
  private readonly underWay = new Map<string, Waiting[]>();

  constructor(private readonly log: EventStore) {}

  /** Position at or after which all of `events` are stored. Throws as EventLog.append does. */
  append(stream: string, events: readonly NewEvent[]): Promise<bigint> {
    return new Promise((resolve, reject) => {
      const waiting = { events, resolve, reject };
      const gathering = this.underWay.get(stream);
      if (gathering) gathering.push(waiting);
      else void this.drain(stream, [waiting]);
    });
  }

  private async drain(stream: string, first: Waiting[]): Promise<void> {
    const gathering: Waiting[] = [];
    this.underWay.set(stream, gathering);
    for (let next = first; next.length > 0; next = take(gathering)) await this.send(stream, next);
    this.underWay.delete(stream);
  }

  private async send(stream: string, batch: readonly Waiting[]): Promise<void> {
    try {
      const { position } = await this.log.append(
        stream,
        'any',
        batch.flatMap(({ events }) => events),
      );
      for (const { resolve } of batch) resolve(position);
    } catch (fault) {
      // Some of the batch may be stored already, by a retry: the store tells them from the new ones only one by one.
      if (fault instanceof WrongRevision && batch.length > 1) for (const one of batch) await this.send(stream, [one]);
      else for (const { reject } of batch) reject(fault);
    }
  }
}

function take(gathering: Waiting[]): Waiting[] {
  let events = 0;
  const count = gathering.findIndex((waiting) => (events += waiting.events.length) > mostAtOnce);
  return gathering.splice(0, count < 0 ? gathering.length : Math.max(1, count));
}
