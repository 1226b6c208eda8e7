import { administratorId } from '../../application/access/administrator.js';
import { AggregateStore } from '../../application/event-sourcing/aggregate-store.js';
import { FactRecorder } from '../../application/event-sourcing/fact-recorder.js';
import { guardedEventStore } from '../../application/event-sourcing/guarded-event-store.js';
import { makeLiveFeed } from '../../application/event-sourcing/live-feed/live-feed.js';
import { LogGuard } from '../../application/event-sourcing/log-guard.js';
import { Overloaded } from '../../application/faults/errors.js';
import { KeyedMutex } from '../../application/kernel/concurrency/keyed-mutex.js';
import type { NewEvent } from '../../application/ports/event-store.js';
import { openEventStore } from '../../infrastructure/eventstore/event-store.js';
import { makeLogBinding } from '../../infrastructure/postgres/log-binding.js';
import { openLogBinding } from '../../infrastructure/redis/log-binding.js';
import type { Module } from '../bind.js';
import { T, type WatchedLog } from '../tokens.js';

/** The event store, and what commands on streams stand on. */
export const eventSourcing: Module = (bind, closing) => {
  bind(T.openedEventStore, [T.backends, T.logger], ({ eventstoreUrl }, log) =>
    closing(openEventStore(eventstoreUrl, log)),
  );
  bind(
    T.logGuard,
    [T.openedEventStore, T.backends, T.database, T.clock, T.logger],
    (log, { redisUrl }, { system }, clock, logger) => {
      const bindings = [makeLogBinding(system), closing(openLogBinding(redisUrl))];
      return closing(watchLog(new LogGuard({ log, bindings, clock, logger, ownerId: administratorId })));
    },
  );
  bind(T.eventStore, [T.openedEventStore, T.logGuard, T.crashPoints], (log, { guard }, crashPoints) =>
    crashPoints.around('eventStore', guardedEventStore(log, guard), [...eventStoreReads], appendedType),
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

/** Compares the log now and then for as long as the process runs. */
function watchLog(guard: LogGuard): WatchedLog {
  const ended = new AbortController();
  const watching = guard.watch(ended.signal);
  return {
    guard,
    close() {
      ended.abort();
      return watching;
    },
  };
}

// Dying at a call that stores nothing shows nothing that dying at the effect before it does not.
const eventStoreReads = ['readStream', 'lastEvent', 'readAll', 'headPosition', 'subscribe'] as const;

const appendedType = ([, , events]: readonly unknown[]): string | undefined =>
  Array.isArray(events) ? (events as readonly NewEvent[])[0]?.type : undefined;
