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
  /** The `.sql` files that make the tables, run in this order; every table has `owner_id` and forced row-level security. */
  readonly schema: string | readonly string[];
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

type Handler = NonNullable<Projection['on'][string]>;

/** Some tables of a projection, and how each event changes them. */
export type ProjectionPart<Event extends DomainEvent = DomainEvent> = Pick<
  Projection<Event>,
  'schema' | 'tables' | 'on'
>;

/** Declares a projection. The runner hands each handler only the data of its own event type, so here the types are let go. */
export const projection = <Event extends DomainEvent>(declaration: Projection<Event>): Projection => declaration;

/** Declares a part of a projection; types are let go as in `projection`. */
export const projectionPart = <Event extends DomainEvent>(declaration: ProjectionPart<Event>): ProjectionPart =>
  declaration;

/**
 * Makes one projection of parts whose tables refer to each other.
 * Invariant: an event that several parts handle changes their tables in the order of the parts.
 */
export function combine(name: string, parts: readonly ProjectionPart[]): Projection {
  const handlers = new Map<string, readonly Handler[]>();
  for (const { on } of parts) {
    for (const [type, handler] of Object.entries(on)) {
      if (handler) handlers.set(type, [...(handlers.get(type) ?? []), handler]);
    }
  }
  return {
    name,
    schema: parts.flatMap(({ schema }) => schema),
    tables: parts.flatMap(({ tables }) => tables),
    on: Object.fromEntries([...handlers].map(([type, those]) => [type, oneOf(those)])),
  };
}

function oneOf(handlers: readonly Handler[]): Handler {
  const [only] = handlers;
  if (only && handlers.length === 1) return only;
  const all: Handler = (data, context) => handlers.flatMap((handler) => handler(data, context));
  // A read model is rebuilt when the source of a handler changes: that of the parts, not of this function.
  return Object.assign(all, { toString: () => handlers.map(String).join('\n') });
}
