import type { Client } from 'pg';
import type { Projection } from '../../../projections/kit/projection.js';
import type { Sql } from '../../../projections/kit/sql.js';
import type { EventStore, SubscriptionListener } from '../../application/ports/event-store.js';
import type { Outcome } from '../postgres/pipeline.js';
import type { ParkedStreams } from './parked.js';
import type { WritingNeeds } from './write-rows.js';

export interface TermNeeds extends WritingNeeds {
  /** The database owner's URL. */
  readonly url: string;
  readonly events: EventStore;
  readonly projections: readonly Projection[];
  /** Event types that no reply waits for. */
  readonly deferrable: NonNullable<SubscriptionListener['deferrable']>;
  /** Events per transaction, at most. */
  readonly batchSize: number;
  /** Where the projections' `.sql` files are. */
  readonly folder: string;
}

export interface Rebuilt {
  /** How many events of the log were read. */
  readonly events: number;
  readonly position: bigint;
}

/** What rebuild, retry and requests see of a term. */
export interface ActiveTerm {
  readonly needs: TermNeeds;
  /** The connection that holds the lock. */
  readonly client: Client;
  readonly parked: ParkedStreams;
  /** Position of the last event in the rows; -1n before the first. */
  readonly checkpoint: bigint;
  /** Aborted once the term is over, for whatever reason. */
  readonly over: AbortSignal;
  /** Runs work that touches the rows or the checkpoint, one after another. Fails when: the term is over → its reason. */
  runExclusive<Result>(work: () => Promise<Result>): Promise<Result>;
  runStatementsExclusive(...statements: readonly Sql[]): Promise<readonly Outcome[]>;
  /** Runs statements inside work that has its turn already. */
  runHere(...statements: readonly Sql[]): Promise<readonly Outcome[]>;
  /** Moves the checkpoint. Fails when: another projector moved it. */
  advance(position: bigint): Sql;
  /** Asserts the checkpoint as a read model joins that is now at it. Fails when: another projector moved it. */
  assertCheckpoint(joining: Projection): Sql;
  /** Follows the log with this read model too, from the checkpoint on. */
  join(projection: Projection): void;
  /** Rebuilds a read model; undefined when its own tables or statements fail. */
  rebuild(projection: Projection): Promise<Rebuilt | undefined>;
}
