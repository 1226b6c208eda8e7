import { BackendUnavailable } from '../../../src/application/faults/errors.js';
import type { EventStore } from '../../../src/application/ports/event-store.js';
import type { ReadDbs } from '../../../src/application/ports/read-models.js';
import { MemoryEventStore } from '../../../src/infrastructure/memory/event-store.js';
import { dataOf, memberOf, memoryApp, refusalOf } from '../../support/memory-app.js';

/** An application whose event store can go away, and whose read models show every row or none. */
async function stage() {
  const now = { isAway: false, isHung: false, isListed: true, elapsed: 0, asked: 0 };
  const log = new MemoryEventStore();
  const failing: EventStore = {
    append: (...args) => log.append(...args),
    lastEvent: (...args) => log.lastEvent(...args),
    readAll: (...args) => log.readAll(...args),
    headPosition: () => log.headPosition(),
    subscribe: (...args) => log.subscribe(...args),
    readStream(...args) {
      now.asked += 1;
      if (now.isHung) return new Promise(() => undefined);
      return now.isAway ? Promise.reject(new BackendUnavailable('eventstore')) : log.readStream(...args);
    },
  };
  const row = { id: 'w', name: 'w', ownerId: 'u', createdAt: '2026-01-01T00:00:00Z', position: '1', expiresAt: null };
  const db = { rows: async () => (now.isListed ? [row] : []) };
  const dbs: ReadDbs = { for: () => db, system: db };
  const app = await memoryApp({ log: failing, dbs, elapsed: () => now.elapsed });
  const ada = await memberOf(app, 'Ada');
  const authenticate = (key: string) => app.needs.authenticate(key);
  await authenticate(ada.key);
  now.elapsed += 5_000;
  return { app, ada, now, authenticate };
}

describe('while the event store is away, a key', () => {
  it('that was in use goes on, as long as the read models list it', async () => {
    const { ada, now, authenticate } = await stage();
    now.isAway = true;
    for (let minutes = 0; minutes < 10; minutes += 1) {
      await expect(authenticate(ada.key)).resolves.toMatchObject({ userId: ada.id });
      now.elapsed += 60_000;
    }
  });

  it('that was in use is not valid by memory alone', async () => {
    const { ada, now, authenticate } = await stage();
    [now.isAway, now.isListed] = [true, false];
    await expect(authenticate(ada.key)).rejects.toBeInstanceOf(BackendUnavailable);
  });

  it('that was not in use is answered unavailable, not that it is wrong', async () => {
    const { app, ada, now } = await stage();
    const { key } = dataOf<{ key: string }>(await app.call(ada.key, 'key.create', { name: 'new' }));
    now.isAway = true;
    const { result } = await app.call(key, 'agent.list');
    expect(result).toMatchObject({ refused: 'unavailable', retryAfterSeconds: 2 });
  });

  it('is asked for again in the background, so that a revocation counts soon after the event store is back', async () => {
    const { app, ada, now, authenticate } = await stage();
    const made = dataOf<{ id: string; key: string }>(await app.call(ada.key, 'key.create', { name: 'worker' }));
    await authenticate(made.key);
    await app.call(ada.key, 'key.revoke', { keyId: made.id });
    now.isAway = true;
    now.elapsed += 5_000;
    await expect(authenticate(made.key)).resolves.toBeDefined();
    now.isAway = false;
    now.elapsed += 5_000;
    await authenticate(made.key);
    now.elapsed += 5_000;
    await expect(authenticate(made.key)).resolves.toBeUndefined();
  });

  it('waits a second at most for a store that does not answer, and then no more', async () => {
    const { ada, now, authenticate } = await stage();
    now.isHung = true;
    await expect(authenticate(ada.key)).resolves.toMatchObject({ userId: ada.id });
    const { asked } = now;
    now.elapsed += 5_000;
    await expect(authenticate(ada.key)).resolves.toMatchObject({ userId: ada.id });
    expect(now.asked).toBe(asked);
  });
});

describe('a command while the event store is away', () => {
  it('is answered unavailable with when to try again', async () => {
    const { app, ada, now } = await stage();
    now.isAway = true;
    expect(
      refusalOf(
        await app.call(ada.key, 'thread.update', { threadId: 'thread_01hzzzzzzzzzzzzzzzzzzzzzzz', title: 'x' }),
      ),
    ).toBe('unavailable');
  });
});
