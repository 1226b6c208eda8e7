import type { Projection } from '../../../projections/kit/projection.js';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import { ParkedStreams, unparkStatement, type ParkedStream } from './parked.js';
import type { ActiveTerm } from './active-term.js';
import { readAhead, writeRows, type WriteTarget } from './write-rows.js';

/**
 * Retries a read model's parked streams, each from where it failed, in the order they were parked.
 * Fails when: a stream fails again → it stays parked from there.
 */
export async function retryParked(term: ActiveTerm, projection: Projection): Promise<void> {
  for (const parked of term.parked.of(projection.name)) {
    const retry = new Retry(term, projection, parked);
    while (await term.runExclusive(() => retry.readOn()));
  }
}

class Retry {
  /** Empty until the stream fails again. */
  private readonly again = new ParkedStreams();
  private next: number;

  constructor(
    private readonly term: ActiveTerm,
    private readonly projection: Projection,
    private readonly parked: ParkedStream,
  ) {
    this.next = parked.revision;
  }

  /** Writes the next events of the stream up to the checkpoint; later ones come by the subscription. True: there may be more. */
  async readOn(): Promise<boolean> {
    const { term, projection } = this;
    const { stream } = this.parked;
    if (!term.parked.has(projection.name, stream)) return false;
    const { events, batchSize } = term.needs;
    const page = await events.readStream(stream, this.next, batchSize);
    const due = page.filter(({ position }) => position <= term.checkpoint);
    const last = due.length < batchSize ? due.at(-1) : undefined;
    await writeRows(this.target(last), term.needs, await readAhead(term.needs, [projection], due));
    const [failed] = this.again.of(projection.name);
    if (failed) {
      term.parked.add(projection.name, stream, failed.revision);
      return false;
    }
    if (due.length === batchSize) return true;
    // Also when the stream is gone from the log: there is nothing left to follow.
    if (!last) await term.runHere(unparkStatement(projection.name, stream));
    term.parked.remove(projection.name, stream);
    return false;
  }

  private target(last: StoredEvent | undefined): WriteTarget {
    const { name } = this.projection;
    return {
      client: this.term.client,
      projections: [this.projection],
      parked: this.again,
      parkedAs: () => name,
      first: (event) => [this.term.advance(this.term.checkpoint), ...this.unparkOrMove(event, last)],
      written: ({ revision }) => {
        this.next = revision + 1;
      },
    };
  }

  private unparkOrMove({ stream, revision }: StoredEvent, last: StoredEvent | undefined): readonly Sql[] {
    const { name } = this.projection;
    if (this.again.has(name, stream)) return [];
    if (revision === last?.revision) return [unparkStatement(name, stream)];
    return [
      sql`update palimpsest.parked_streams set revision = ${revision + 1} where projection = ${name} and stream = ${stream}`,
    ];
  }
}
