import type { z } from 'zod';

/** The events of one family: type name → schema of its data, as the store keeps it for ever. */
export type EventSchemas = Readonly<Record<string, z.ZodObject>>;

/** The union of events that a family of schemas describes. */
export type EventOf<Schemas extends EventSchemas> = {
  [Type in keyof Schemas & string]: { readonly type: Type; readonly data: Readonly<z.output<Schemas[Type]>> };
}[keyof Schemas & string];

export interface DomainEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What `evolve` gets of an event besides its data. `at` is RFC 3339. */
export interface EventFacts {
  readonly id: string;
  readonly revision: number;
  readonly at: string;
}

/**
 * Folds the events of a stream into a state. `evolve` has one entry per event type, so a forgotten type is a compile error.
 * Invariant: states are plain JSON values. Why: they are stored as snapshots.
 */
export interface Aggregate<State, Event extends DomainEvent> {
  /** Stream names are `{category}-{id}`. */
  readonly category: string;
  readonly initial: State;
  readonly evolve: {
    readonly [Type in Event['type']]: (
      state: State,
      data: Extract<Event, { type: Type }>['data'],
      event: EventFacts,
    ) => State;
  };
  /** Raise it when the shape of the state changes: older snapshots are then ignored. */
  readonly snapshotVersion?: number;
}

export class UnknownEventType extends Error {
  constructor(
    readonly category: string,
    readonly type: string,
  ) {
    super(`The ${category} aggregate does not know events of type ${type}.`);
  }
}

export function evolve<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  state: State,
  event: DomainEvent & EventFacts,
): State {
  // The index is a type name read from the store, so the compiler cannot pair it with its data; the schema check at decoding did.
  const step = (
    aggregate.evolve as Readonly<Record<string, ((s: State, d: unknown, e: EventFacts) => State) | undefined>>
  )[event.type];
  if (!step) throw new UnknownEventType(aggregate.category, event.type);
  return step(state, event.data, event);
}

export const fold = <State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  events: Iterable<DomainEvent & EventFacts>,
  from: State = aggregate.initial,
): State => {
  let state = from;
  for (const event of events) state = evolve(aggregate, state, event);
  return state;
};
