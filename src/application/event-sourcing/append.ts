import type { DomainEvent } from '../../domain/kernel/aggregate.js';
import { OutcomeUnknown } from '../faults/errors.js';
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

const maxSends = 3;

/**
 * Appends at an exact revision (-1: the stream is empty) and answers the position of the last event.
 * Why: when the answer is lost the same events are sent again; the store recognises their ids and answers what happened
 * (docs/flows.md#outcome-unknown).
 */
export async function appendExactly(
  eventStore: EventStore,
  stream: string,
  revision: number,
  events: readonly NewEvent[],
): Promise<bigint> {
  const expected = revision < 0 ? 'none' : revision;
  for (let sent = 1; ; sent += 1) {
    try {
      return (await eventStore.append(stream, expected, events)).position;
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) || sent >= maxSends) throw error;
    }
  }
}
