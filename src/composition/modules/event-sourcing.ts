import { AggregateStore } from '../../application/event-sourcing/aggregate-store.js';
import { FactRecorder } from '../../application/event-sourcing/fact-recorder.js';
import { makeLiveFeed } from '../../application/event-sourcing/live-feed/live-feed.js';
import { Overloaded } from '../../application/faults/errors.js';
import { KeyedMutex } from '../../application/kernel/concurrency/keyed-mutex.js';
import type { NewEvent } from '../../application/ports/event-store.js';
import { openEventStore } from '../../infrastructure/eventstore/event-store.js';
import type { Module } from '../bind.js';
import { T } from '../tokens.js';

/** The event store, and what commands on streams stand on. */
export const eventSourcing: Module = (bind, closing) => {
  bind(T.eventStore, [T.backends, T.logger, T.crashPoints], ({ eventstoreUrl }, log, crashPoints) =>
    crashPoints.around('eventStore', closing(openEventStore(eventstoreUrl, log)), [...eventStoreReads], appendedType),
  );
  bind(T.live, [T.eventStore], (eventStore) => closing(makeLiveFeed(eventStore)));
  bind(
    T.aggregateStore,
    [T.eventStore, T.personalDataKeys, T.snapshots],
    (eventStore, personalDataKeys, snapshots) => new AggregateStore(eventStore, personalDataKeys, snapshots),
  );
  bind(
    T.eventSourcing,
    [T.eventStore, T.aggregateStore, T.personalDataKeys, T.clock, T.metrics],
    (eventStore, store, personalDataKeys, clock, metrics) => ({
      eventStore,
      store,
      personalDataKeys,
      clock,
      metrics,
      commandQueue: new KeyedMutex(() => new Overloaded('eventstore')),
      facts: new FactRecorder(eventStore),
    }),
  );
};

// Dying at a call that stores nothing shows nothing that dying at the effect before it does not.
const eventStoreReads = ['readStream', 'lastEvent', 'readAll', 'headPosition', 'subscribe', 'ping', 'close'] as const;

const appendedType = ([, , events]: readonly unknown[]): string | undefined =>
  Array.isArray(events) ? (events as readonly NewEvent[])[0]?.type : undefined;
