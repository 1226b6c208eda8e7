import type { DomainEvent } from '../../domain/kernel/aggregate.js';
import type { KeyedMutex } from '../kernel/concurrency/keyed-mutex.js';
import type { Clock } from '../ports/clock.js';
import type { EventStore, NewEvent } from '../ports/event-store.js';
import type { PersonalDataKeys } from '../ports/personal-data-keys.js';
import type { Metrics } from '../ports/telemetry.js';
import type { AggregateStore } from './aggregate-store.js';
import { encode, needsKey } from './codec.js';
import type { Command } from './command.js';
import type { FactRecorder } from './fact-recorder.js';

/** What commands on streams stand on; one set for a process. */
export interface EventSourcing {
  readonly eventStore: EventStore;
  readonly store: AggregateStore;
  readonly personalDataKeys: PersonalDataKeys;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Runs commands of this process on one stream one after another: fewer revision conflicts. */
  readonly commandQueue: KeyedMutex;
  readonly facts: FactRecorder;
}

/** An event with the id that it will be stored under. */
export type NamedEvent = DomainEvent & { readonly id: string };

/** Seals the personal fields of events and stamps them with who acted, for whom, and when (`at`, RFC 3339). */
export async function seal(
  { personalDataKeys }: Pick<EventSourcing, 'personalDataKeys'>,
  ownerId: string,
  { correlationId, causationId, actor, idempotency }: Command,
  at: string,
  events: readonly NamedEvent[],
): Promise<readonly NewEvent[]> {
  const key = needsKey(events) ? await personalDataKeys.sealingKey(ownerId) : undefined;
  const metadata = {
    $correlationId: correlationId,
    ...(causationId && { $causationId: causationId }),
    ownerId,
    actor,
    at,
    ...(idempotency && { idempotency }),
  };
  return events.map((event) => encode(event.id, event, metadata, key));
}
