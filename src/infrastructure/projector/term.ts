import { Mutex } from 'async-mutex';
import type { Client } from 'pg';
import { z } from 'zod';
import { sql, type Sql } from '../../../projections/kit/sql.js';
import type { Projection } from '../../../projections/kit/projection.js';
import type { StoredEvent } from '../../application/ports/event-store.js';
import { faultName, isOutage } from '../postgres/faults.js';
import { runTogether, type Outcome } from '../postgres/pipeline.js';
import { formOf } from '../postgres/read-model-tables.js';
import { pause, untilAborted } from '../../application/kernel/concurrency/repeat-every.js';
import type { ActiveTerm, Rebuilt, TermNeeds } from './active-term.js';
import { ParkedStreams } from './parked.js';
import { isForeign } from './projectable-event.js';
import { rebuild } from './rebuild.js';
import { Requests } from './requests.js';
import { retryParked } from './retry.js';
import { answerWithinMs, readAhead, writeRows, type WriteTarget } from './write-rows.js';

/** Milliseconds between two small transactions, at least. */
const betweenTransactionsMs = 3;

/**
 * One term of the active projector: from holding the lock until a fault or `ended` ends it.
 * Invariant: one subscription feeds every read model, and all share one checkpoint but those that are being rebuilt.
 */
export class Term implements ActiveTerm {
  readonly parked = new ParkedStreams();
  checkpoint = -1n;
  readonly over: AbortSignal;
  private live: readonly Projection[] = [];
  private readonly mutex = new Mutex();
  private writing: Promise<void> = Promise.resolve();
  private readonly failed = new AbortController();

  constructor(
    readonly needs: TermNeeds,
    readonly client: Client,
    ended: AbortSignal,
  ) {
    this.over = AbortSignal.any([ended, this.failed.signal]);
  }

  /** Runs the term to its end. Fails when: a fault ended the term → that fault. */
  async run(): Promise<void> {
    const requests = new Requests(this);
    await requests.listen();
    await this.parked.load(this.client);
    const behind = await this.loadCheckpoints();
    const subscription = this.needs.events.subscribe(this.checkpoint < 0n ? undefined : this.checkpoint, {
      events: (batch) => this.guarded(() => this.project(batch)),
      deferrable: this.needs.deferrable,
    });
    const aside = this.guarded(async () => {
      for (const projection of this.live) await retryParked(this, projection);
      for (const projection of behind) await this.rebuild(projection);
      await requests.serve();
    }).catch(() => undefined);
    await untilAborted(this.over);
    await Promise.all([subscription.stop(), aside]);
    await this.writing.catch(() => undefined);
    if (this.failed.signal.aborted) throw this.failed.signal.reason;
  }

  async rebuild(projection: Projection): Promise<Rebuilt | undefined> {
    try {
      return await rebuild(this, projection);
    } catch (fault) {
      if (this.over.aborted || isOutage(fault)) throw fault;
      this.needs.log.error({ projection: projection.name, fault: faultName(fault) }, 'a rebuild failed');
      return undefined;
    }
  }

  runExclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.mutex.runExclusive(() => {
      this.over.throwIfAborted();
      return work();
    });
  }

  runStatementsExclusive(...statements: readonly Sql[]): Promise<readonly Outcome[]> {
    return this.runExclusive(() => this.runHere(...statements));
  }

  runHere(...statements: readonly Sql[]): Promise<readonly Outcome[]> {
    return runTogether(this.client, statements, answerWithinMs);
  }

  advance(position: bigint, live = this.live): Sql {
    const names = live.map(({ name }) => name);
    const whole = live.length === this.needs.projections.length;
    return sql`select palimpsest.advance(${names}, ${this.checkpoint}, ${position}, ${whole})`;
  }

  assertCheckpoint(joining: Projection): Sql {
    return this.advance(this.checkpoint, this.with(joining));
  }

  join(projection: Projection): void {
    this.live = this.with(projection);
  }

  private with(joining: Projection): readonly Projection[] {
    return [...this.live.filter(({ name }) => name !== joining.name), joining];
  }

  /** Writes a batch while the next is being read. Invariant: never more than one batch is ahead of the rows. */
  private async project(batch: readonly StoredEvent[]): Promise<void> {
    const { batchSize } = this.needs;
    const begun = performance.now();
    for (const event of batch) if (isForeign(event)) this.needs.metrics.count('palimpsest_foreign_events_total');
    for (let start = 0; start < batch.length; start += batchSize) {
      const ready = await readAhead(this.needs, this.live, batch.slice(start, start + batchSize));
      await this.writing;
      this.writing = this.runExclusive(async () => {
        const fresh = ready.filter(({ event }) => event.position > this.checkpoint);
        await writeRows(this.target(), this.needs, fresh);
      });
      this.writing.catch((fault: unknown) => this.failed.abort(fault));
    }
    const rest = betweenTransactionsMs - (performance.now() - begun);
    if (rest > 0) await pause(rest, this.over);
  }

  private target(): WriteTarget {
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

  /** Runs work of which any fault ends the term. */
  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (fault) {
      this.failed.abort(fault);
      throw fault;
    }
  }

  /** Loads the checkpoint; returns the read models to rebuild: made by another version, or behind the others. */
  private async loadCheckpoints(): Promise<readonly Projection[]> {
    const { projections, folder } = this.needs;
    const { rows } = await this.client.query('select name, form, position from palimpsest.projections');
    const stored = z.array(storedRow).parse(rows);
    const states = projections.map((projection) => {
      const row = stored.find(({ name }) => name === projection.name);
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

const storedRow = z.object({ name: z.string(), form: z.string(), position: z.coerce.bigint() });
