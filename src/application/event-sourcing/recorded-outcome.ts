import type { DomainEvent } from '../../domain/kernel/aggregate.js';
import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import type { AggregateStore } from './aggregate-store.js';
import type { LoadedAggregate } from './loaded-aggregate.js';
import type { DecodedEvent } from './codec.js';
import type { Command } from './command.js';

/** Answers the events that this command's idempotency key has stored on the stream; undefined when it has stored none. */
export async function recordedOutcome(
  store: AggregateStore,
  stream: string,
  loaded: LoadedAggregate<unknown>,
  { idempotency, actor }: Command,
): Promise<readonly DecodedEvent[] | Refusal<'conflict'> | undefined> {
  if (!idempotency) return undefined;
  const recorded = loaded.keys.find(({ key }) => key === idempotency.key);
  if (!recorded) return undefined;
  const isSame =
    recorded.operation === idempotency.operation &&
    recorded.digest === idempotency.digest &&
    recorded.actorId === actor.id;
  return isSame ? store.events(stream, recorded.from, recorded.count) : idempotencyCollision();
}

/** Refuses a key that was used for something else. Invariant: one constant answer, which identifies nothing recorded. */
export const idempotencyCollision = (): Refusal<'conflict'> =>
  refuse('conflict', 'This idempotency key was used before with a different request.', {
    reason: 'idempotency_key_reused',
  });

/** Events as the store will answer them, for the cache of the process that stored them. */
export const decodedFrom = (
  event: DomainEvent & { readonly id: string; readonly at: string; readonly revision: number },
  stream: string,
  position: bigint,
  ownerId: string,
  { actor, correlationId, idempotency }: Command,
): DecodedEvent => ({
  ...event,
  stream,
  position,
  metadata: {
    $correlationId: correlationId,
    ownerId,
    actor,
    at: event.at,
    schemaVersion: 1,
    ...(idempotency && { idempotency }),
  },
});
