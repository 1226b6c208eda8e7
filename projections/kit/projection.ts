import type { DomainEvent } from '../../src/domain/kernel/aggregate.js';
import type { Actor } from '../../src/domain/kernel/envelope.js';
import type { Sql } from './sql.js';

/** What a projection may know of an event besides its data. `at` is RFC 3339; `position` fits a Postgres bigint. */
export interface EventContext {
  readonly ownerId: string;
  readonly at: string;
  readonly position: bigint;
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  readonly actor: Actor;
}

/** An event as the store keeps it, with the digest of its canonical data and metadata (hex SHA-256). */
export interface RawEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: bigint;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly digest: string;
}

/**
 * A read model: its tables and how each event changes them, as SQL values. Rows and the checkpoint are written in one
 * transaction by the runner; a projection has no other effect. Statements must be idempotent and touch only rows of the
 * event's owner. Tables are named without a schema: a rebuild writes the same statements into tables beside the live ones.
 */
export interface Projection<Event extends DomainEvent = DomainEvent> {
  readonly name: string;
  /** The `.sql` file beside the projection that makes its tables; they all have `owner_id` and forced row-level security. */
  readonly schema: string;
  readonly tables: readonly string[];
  readonly on: {
    readonly [Type in Event['type']]?: (
      data: Extract<Event, { type: Type }>['data'],
      context: EventContext,
    ) => Sql | readonly Sql[];
  };
  /** For read models of everything that was stored, whatever its type. */
  readonly onEvery?: (event: RawEvent) => Sql;
}

/** Declares a projection. The runner hands each handler only the data of its own event type, so here the types are let go. */
export const projection = <Event extends DomainEvent>(declaration: Projection<Event>): Projection => declaration;
