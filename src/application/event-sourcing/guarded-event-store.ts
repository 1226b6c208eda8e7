import { BackendUnavailable, OutcomeUnknown, Overloaded } from '../faults/errors.js';
import type { EventStore } from '../ports/event-store.js';
import type { LogGuard } from './log-guard.js';

/**
 * The event store behind the guard of its log.
 * Invariant: no append is acknowledged at a position that this process saw taken before the append began, unless the log
 * was compared again; so a log that was replaced between two calls acknowledges nothing.
 */
export function guardedEventStore(store: EventStore, guard: LogGuard): EventStore {
  const call = <Result>(work: () => Promise<Result>): Promise<Result> => whileRight(guard, work);

  return {
    append: (stream, expected, events) =>
      call(async () => {
        const seen = guard.seen();
        const appended = await store.append(stream, expected, events);
        // It may also be the answer to an earlier append of the same events.
        if (appended.position <= seen) await guard.verify();
        guard.note(appended.position);
        return appended;
      }),
    readStream: (stream, from, limit) => call(() => store.readStream(stream, from, limit)),
    lastEvent: (stream) => call(() => store.lastEvent(stream)),
    readAll: (after, limit) => call(() => store.readAll(after, limit)),
    headPosition: () => call(() => store.headPosition()),
    subscribe: (after, listener, types) =>
      store.subscribe(
        after,
        {
          ...listener,
          async events(batch) {
            const held = guard.hold();
            if (held) await held;
            await listener.events(batch);
          },
        },
        types,
      ),
  };
}

async function whileRight<Result>(guard: LogGuard, work: () => Promise<Result>): Promise<Result> {
  const held = guard.hold();
  if (held) await held;
  try {
    return await work();
  } catch (fault) {
    const isOutage = fault instanceof BackendUnavailable || fault instanceof OutcomeUnknown;
    if (isOutage && !(fault instanceof Overloaded)) guard.suspect();
    throw fault;
  }
}
