import { guardedEventStore } from '../../../src/application/event-sourcing/guarded-event-store.js';
import { LogGuard } from '../../../src/application/event-sourcing/log-guard.js';
import { LogMismatch, BackendUnavailable } from '../../../src/application/faults/errors.js';
import type { EventStore } from '../../../src/application/ports/event-store.js';
import type { BoundLog, LogBinding, LogProbe } from '../../../src/application/ports/log-binding.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';
import { quiet } from '../../support/quiet.js';

const event = () => ({ id: crypto.randomUUID(), type: 'thing.happened', data: {}, metadata: {} });

class MemoryBinding implements LogBinding {
  private bound: BoundLog = { logId: undefined, position: -1n };
  isAway = false;

  constructor(readonly backend: LogBinding['backend']) {}

  read(): Promise<BoundLog> {
    return this.isAway ? Promise.reject(new BackendUnavailable(this.backend)) : Promise.resolve(this.bound);
  }
  note(logId: string, position: bigint): Promise<void> {
    return this.adopt(this.bound.logId ?? logId, position);
  }
  adopt(logId: string, position: bigint): Promise<void> {
    this.bound = { logId, position };
    return Promise.resolve();
  }
}

/** An event store that can be replaced by another while it is used. */
function stage() {
  let current = new MemoryEventStore();
  const log: EventStore & LogProbe = {
    append: (...args) => current.append(...args),
    readStream: (...args) => current.readStream(...args),
    lastEvent: (...args) => current.lastEvent(...args),
    readAll: (...args) => current.readAll(...args),
    headPosition: () => current.headPosition(),
    subscribe: (...args) => current.subscribe(...args),
    endPosition: () => current.endPosition(),
  };
  const [postgres, redis] = [new MemoryBinding('postgres'), new MemoryBinding('redis')];
  const newGuard = () =>
    new LogGuard({
      log,
      bindings: [postgres, redis],
      clock: { now: () => new Date() },
      logger: quiet,
      ownerId: 'user_a',
    });
  const guard = newGuard();
  return {
    guard,
    newGuard,
    postgres,
    redis,
    store: guardedEventStore(log, guard),
    replace: (next = new MemoryEventStore()) => {
      const former = current;
      current = next;
      return former;
    },
  };
}

describe('the guard of the event log', () => {
  it('names a new log and binds the backends to it before the first append', async () => {
    const { store, postgres, redis } = stage();
    await store.append('thing-1', 'none', [event()]);
    const { logId } = await postgres.read();
    expect(logId).toBeDefined();
    await expect(redis.read()).resolves.toMatchObject({ logId });
    await expect(store.readAll(undefined, 10)).resolves.toMatchObject([{ type: 'log.created' }, { stream: 'thing-1' }]);
  });

  it('acknowledges no append that the log took at a position which was taken before', async () => {
    const { store, replace } = stage();
    for (const n of [1, 2, 3, 4]) await store.append(`thing-${n}`, 'none', [event()]);
    replace();
    await expect(store.append('thing-5', 'none', [event()])).rejects.toBeInstanceOf(LogMismatch);
    await expect(store.readStream('thing-1')).rejects.toBeInstanceOf(LogMismatch);
  });

  it('delivers nothing to a subscriber while the log is another one', async () => {
    const { store, guard, replace } = stage();
    await store.append('thing-1', 'none', [event()]);
    const others = new MemoryEventStore();
    await others.append('thing-2', 'none', [event()]);
    replace(others);
    await expect(guard.verify()).rejects.toBeInstanceOf(LogMismatch);
    const seen: unknown[] = [];
    const subscription = store.subscribe(undefined, { events: async (batch) => void seen.push(...batch) });
    await expect(guard.verify()).rejects.toBeInstanceOf(LogMismatch);
    await subscription.stop();
    expect(seen).toEqual([]);
  });

  it('goes on with the right log once that is back', async () => {
    const { store, guard, replace } = stage();
    await store.append('thing-1', 'none', [event()]);
    const right = replace();
    await expect(guard.verify()).rejects.toBeInstanceOf(LogMismatch);
    replace(right);
    await expect(store.append('thing-1', 0, [event()])).resolves.toMatchObject({ revision: 1 });
  });

  it('refuses in every process that starts meanwhile', async () => {
    const { store, newGuard, replace } = stage();
    await store.append('thing-1', 'none', [event()]);
    replace();
    await expect(newGuard().verify()).rejects.toThrow(/holds data of log/);
  });

  it('works on while Postgres or Redis is away, once it has compared', async () => {
    const { store, guard, postgres, redis } = stage();
    await store.append('thing-1', 'none', [event()]);
    postgres.isAway = redis.isAway = true;
    await expect(guard.verify()).resolves.toBeUndefined();
  });

  it('does not begin while neither Postgres nor Redis says which log is right', async () => {
    const { guard, postgres, redis } = stage();
    postgres.isAway = redis.isAway = true;
    await expect(guard.verify()).rejects.toBeInstanceOf(BackendUnavailable);
  });

  it('takes another log for the right one when an operator adopts it', async () => {
    const { store, newGuard, replace } = stage();
    await store.append('thing-1', 'none', [event()]);
    replace();
    await newGuard().adopt();
    await expect(newGuard().verify()).resolves.toBeUndefined();
  });
});
