import { evolve, type Aggregate, type DomainEvent } from '../../domain/kernel/aggregate.js';
import type { RecordedKey } from '../ports/snapshots.js';
import type { DecodedEvent } from './codec.js';

/** A stream folded up to a revision (-1: it has no events), with what it remembers besides its state. */
export interface LoadedAggregate<State> {
  readonly state: State;
  readonly revision: number;
  /** The tenant that the stream belongs to; undefined while it has no events. */
  readonly ownerId: string | undefined;
  readonly keys: readonly RecordedKey[];
  readonly position: bigint;
}

/** A stream remembers this many idempotency keys, the latest. */
const rememberedKeys = 256;

export const emptyStream = <State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
): LoadedAggregate<State> => ({ state: aggregate.initial, revision: -1, ownerId: undefined, keys: [], position: 0n });

/** The aggregate after later events of its stream. */
export function advance<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  before: LoadedAggregate<State>,
  events: readonly DecodedEvent[],
): LoadedAggregate<State> {
  let { state, ownerId, keys, revision, position } = before;
  for (const event of events) {
    state = evolve(aggregate, state, event);
    ownerId ??= event.metadata.ownerId;
    keys = withKey(keys, event);
    revision = event.revision;
    position = event.position;
  }
  return { state, ownerId, keys, revision, position };
}

function withKey(keys: readonly RecordedKey[], event: DecodedEvent): readonly RecordedKey[] {
  const { idempotency, actor } = event.metadata;
  if (!idempotency) return keys;
  const last = keys.at(-1);
  if (
    last?.key === idempotency.key &&
    last.operation === idempotency.operation &&
    last.from + last.count === event.revision
  ) {
    return [...keys.slice(0, -1), { ...last, count: last.count + 1 }];
  }
  return [...keys.slice(1 - rememberedKeys), { ...idempotency, actorId: actor.id, from: event.revision, count: 1 }];
}
