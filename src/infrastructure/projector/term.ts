import type { Client } from 'pg';
import { z } from 'zod';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import type { Projection } from '../../../projections/kit/projection.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import { isOutage } from '../postgres/faults.js';
import { runTogether, type Outcome } from '../postgres/pipeline.js';
import { formOf } from '../postgres/read-model-tables.js';
import { over } from '../postgres/leader-lease.js';
import { pause } from '../../application/kernel/concurrency/repeat-every.js';
import { faultName, ParkedStreams } from './parked.js';
import type { ProjectorNeeds } from './projector.js';
import { rebuild, type Rebuilt } from './rebuild.js';
import { Requests } from './requests.js';
import { retryParked } from './retry.js';
import { Mutex } from './turns.js';
import { answerWithinMs, readAhead, writeRows, type WriteTarget } from './write-rows.js';

/** No command waits until these are in the rows, and they come in thousands: a transaction for each handful is waste. */
const unhurried = { types: new Set(['scratchpad.entry_appended']), ms: 40 };
/** Milliseconds between two small transactions, at least. */
const gatheringMs = 3;

export type TermNeeds = Required<ProjectorNeeds>;

/**
 * One term of the active projector: from holding the lock until something ends it. One subscription feeds every read
 * model; all of them share one checkpoint, but for those that are still being rebuilt.
 */
export class Term {
  readonly parked = new ParkedStreams();
  /** Position of the last event in the rows; -1n before the first. */
  checkpoint = -1n;
  /** Aborted once the term is over, for whatever reason. */
  readonly over: AbortSignal;
  private live: readonly Projection[] = [];
  private readonly turns = new Mutex();
  private writing: Promise<void> = Promise.resolve();
  private readonly failed = new AbortController();

  constructor(
    readonly needs: TermNeeds,
    readonly client: Client,
    ended: AbortSignal,
  ) {
    this.over = AbortSignal.any([ended, this.failed.signal]);
  }

  /** Ends with the fault that ended the term, or quietly when it was told to. */
  async run(): Promise<void> {
    const requests = new Requests(this);
    await requests.listen();
    await this.parked.load(this.client);
    const behind = await this.loadCheckpoints();
    const subscription = this.needs.events.subscribe(this.checkpoint < 0n ? undefined : this.checkpoint, {
      events: (batch) => this.guarded(() => this.project(batch)),
      // Nobody awaits this: `guarded` has ended the term with the fault, and `run` throws it.
      caughtUp: (position) => void this.guarded(() => this.skipTo(position)).catch(() => undefined),
      deferrable: unhurried,
    });
    const aside = this.guarded(async () => {
      for (const projection of this.live) await retryParked(this, projection);
      for (const projection of behind) await this.rebuild(projection);
      await requests.serve();
    }).catch(() => undefined);
    await over(this.over);
    await Promise.all([subscription.stop(), aside]);
    await this.writing.catch(() => undefined);
    if (this.failed.signal.aborted) throw this.failed.signal.reason;
  }

  /** Rebuilds a read model; undefined when its own tables or statements do not let it, which the others do not suffer for. */
  async rebuild(projection: Projection): Promise<Rebuilt | undefined> {
    try {
      return await rebuild(this, projection);
    } catch (fault) {
      if (this.over.aborted || isOutage(fault)) throw fault;
      this.needs.log.error({ projection: projection.name, fault: faultName(fault) }, 'a rebuild failed');
      return undefined;
    }
  }

  /** What touches the rows or the checkpoint happens in turns, on the connection that holds the lock. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.turns.runExclusive(() => {
      this.over.throwIfAborted();
      return work();
    });
  }

  runInTurn(...statements: readonly Sql[]): Promise<readonly Outcome[]> {
    return this.inTurn(() => this.runHere(...statements));
  }

  /** For what has the turn. */
  runHere(...statements: readonly Sql[]): Promise<readonly Outcome[]> {
    return runTogether(this.client, statements, answerWithinMs);
  }

  /** Moves the checkpoint, or refuses when another projector did. */
  advance(position: bigint, live = this.live): Sql {
    const names = live.map(({ name }) => name);
    const whole = live.length === this.needs.projections.length;
    return sql`select palimpsest.advance(${names}, ${this.checkpoint}, ${position}, ${whole})`;
  }

  /** Makes sure of the checkpoint, as a read model joins that is now at it. */
  assertCheckpoint(joining: Projection): Sql {
    return this.advance(this.checkpoint, this.with(joining));
  }

  /** The read model is at the checkpoint and follows from here on. */
  join(projection: Projection): void {
    this.live = this.with(projection);
  }

  private with(joining: Projection): readonly Projection[] {
    return [...this.live.filter(({ name }) => name !== joining.name), joining];
  }

  /** Takes a batch over and is ready for the next while it is being written, but never more than that one ahead. */
  private async project(batch: readonly StoredEvent[]): Promise<void> {
    const { batchSize } = this.needs;
    const begun = performance.now();
    for (let start = 0; start < batch.length; start += batchSize) {
      const readings = await readAhead(this.needs, this.live, batch.slice(start, start + batchSize));
      await this.writing;
      this.writing = this.inTurn(async () => {
        const fresh = readings.filter(({ event }) => event.position > this.checkpoint);
        await writeRows(this.rows(), this.needs, fresh);
      });
      this.writing.catch((fault: unknown) => this.failed.abort(fault));
    }
    const rest = gatheringMs - (performance.now() - begun);
    if (rest > 0) await pause(rest, this.over);
  }

  private skipTo(position: bigint): Promise<void> {
    return this.inTurn(async () => {
      if (position <= this.checkpoint) return;
      await this.runHere(this.advance(position));
      this.checkpoint = position;
    });
  }

  private rows(): WriteTarget {
    return {
      client: this.client,
      projections: this.live,
      parked: this.parked,
      parkedAs: ({ name }) => name,
      first: ({ position }) => [this.advance(position)],
      written: ({ position }) => {
        this.checkpoint = position;
      },
    };
  }

  /** Any fault ends the term. */
  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (fault) {
      this.failed.abort(fault);
      throw fault;
    }
  }

  /** Finds where the read models are. Those that another version made, or that were not followed, are answered. */
  private async loadCheckpoints(): Promise<readonly Projection[]> {
    const { projections, folder } = this.needs;
    const { rows } = await this.client.query('select name, form, position from palimpsest.projections');
    const kept = new Map(
      z
        .array(keptRow)
        .parse(rows)
        .map((row) => [row.name, row]),
    );
    const states = projections.map((projection) => {
      const row = kept.get(projection.name);
      return { projection, position: row?.position ?? -1n, current: row?.form === formOf(projection, folder) };
    });
    const current = states.filter((state) => state.current);
    const positions = (current.length > 0 ? current : states).map(({ position }) => position);
    this.checkpoint = positions.reduce((most, position) => (position > most ? position : most), -1n);
    const isBehind = (state: (typeof states)[number]) => !state.current || state.position < this.checkpoint;
    this.live = states.filter((state) => !isBehind(state)).map(({ projection }) => projection);
    return states.filter(isBehind).map(({ projection }) => projection);
  }
}

const keptRow = z.object({ name: z.string(), form: z.string(), position: z.coerce.bigint() });
