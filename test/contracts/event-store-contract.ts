import { randomUUID } from 'node:crypto';
import { WrongRevision } from '../../src/application/faults/errors.js';
import type { EventStore, NewEvent, StoredEvent } from '../../src/application/ports/event-store.js';
import { eventually } from '../support/eventually.js';

export const newEvent = (type = 'thing.happened', data: Record<string, unknown> = { what: 'thing' }): NewEvent => ({
  id: randomUUID(),
  type,
  data,
  metadata: { ownerId: 'user_1' },
});
export const newEvents = (count: number): NewEvent[] => Array.from({ length: count }, () => newEvent());
export const newStream = () => `thing-${randomUUID()}`;
export const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);

/** What every event log promises. */
export function describeEventLog(name: string, open: () => Promise<EventStore>): void {
  describe(`an event log (${name})`, () => {
    let log: EventStore;
    beforeAll(async () => {
      log = await open();
    });

    it('gives back what was appended, in order', async () => {
      const stream = newStream();
      const events = [newEvent('thing.begun', { text: 'Grüße, 世界 🎉', deep: [{ a: null }] }), newEvent()];
      const appended = await log.append(stream, 'none', events);
      const stored = await log.readStream(stream);
      expect(stored.map(({ position: _, ...event }) => event)).toEqual(
        events.map((event, revision) => ({ ...event, stream, revision })),
      );
      expect(appended).toEqual({ revision: 1, position: stored.at(-1)?.position });
    });

    it('gives every event a later position than the one before', async () => {
      const stream = newStream();
      await log.append(stream, 'none', newEvents(3));
      await log.append(stream, 2, newEvents(2));
      const positions = (await log.readStream(stream)).map(({ position }) => position);
      expect(positions).toHaveLength(5);
      expect(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n))).toBe(true);
    });

    it('continues a stream at its exact revision', async () => {
      const stream = newStream();
      await log.append(stream, 'none', newEvents(2));
      await expect(log.append(stream, 1, newEvents(1))).resolves.toMatchObject({ revision: 2 });
    });

    it.each([
      ['none', 'none' as const],
      ['a revision that was passed', 0],
      ['a revision that was not reached', 7],
    ])('refuses to append when %s is expected of a stream with two events', async (_, expected) => {
      const stream = newStream();
      await log.append(stream, 'none', newEvents(2));
      await expect(log.append(stream, expected, newEvents(1))).rejects.toBeInstanceOf(WrongRevision);
      await expect(log.readStream(stream)).resolves.toHaveLength(2);
    });

    it('refuses a revision on a stream that has none', async () => {
      await expect(log.append(newStream(), 0, newEvents(1))).rejects.toBeInstanceOf(WrongRevision);
    });

    it('refuses to append nothing', async () => {
      await expect(log.append(newStream(), 'any', [])).rejects.toBeInstanceOf(RangeError);
    });

    it('lets exactly one of many writers at the same revision win', async () => {
      const stream = newStream();
      await log.append(stream, 'none', newEvents(1));
      const writers = await Promise.allSettled(Array.from({ length: 20 }, () => log.append(stream, 0, newEvents(1))));
      expect(writers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await expect(log.readStream(stream)).resolves.toHaveLength(2);
    });

    it('answers a retry with the first outcome, even when the stream has gone on', async () => {
      const stream = newStream();
      const [first, second] = [newEvents(2), newEvents(2)];
      const outcomes = [await log.append(stream, 'none', first), await log.append(stream, 1, second)];
      await log.append(stream, 3, newEvents(1));
      await expect(log.append(stream, 'none', first)).resolves.toEqual(outcomes[0]);
      await expect(log.append(stream, 1, second)).resolves.toEqual(outcomes[1]);
      await expect(log.readStream(stream)).resolves.toHaveLength(5);
    });

    it('does not take a known beginning with a new end for a retry', async () => {
      const stream = newStream();
      const known = newEvents(2);
      await log.append(stream, 'none', known);
      await expect(log.append(stream, 'none', [...known, newEvent()])).rejects.toBeInstanceOf(WrongRevision);
      await expect(log.readStream(stream)).resolves.toHaveLength(2);
    });

    it('appends wherever the stream stands when anything is expected', async () => {
      const stream = newStream();
      await log.append(stream, 'any', newEvents(1));
      await expect(log.append(stream, 'any', newEvents(2))).resolves.toMatchObject({ revision: 2 });
    });

    it('recognises a recent event when anything is expected', async () => {
      const stream = newStream();
      const events = newEvents(1);
      const first = await log.append(stream, 'any', events);
      await log.append(stream, 'any', newEvents(1));
      await expect(log.append(stream, 'any', events)).resolves.toEqual(first);
      await expect(log.readStream(stream)).resolves.toHaveLength(2);
    });

    it('keeps every one of many appends at once', async () => {
      const streams = Array.from({ length: 300 }, newStream);
      await Promise.all(streams.map((stream) => log.append(stream, 'none', newEvents(1))));
      const stored = await Promise.all(streams.map((stream) => log.readStream(stream)));
      expect(stored.map(({ length }) => length)).toEqual(streams.map(() => 1));
    });

    it('reads a stream from a revision on, up to a limit', async () => {
      const stream = newStream();
      const events = newEvents(6);
      await log.append(stream, 'none', events);
      expect(idsOf(await log.readStream(stream, 2))).toEqual(idsOf(events.slice(2)));
      expect(idsOf(await log.readStream(stream, 2, 3))).toEqual(idsOf(events.slice(2, 5)));
      await expect(log.readStream(stream, 6)).resolves.toEqual([]);
    });

    it('reads a missing stream as empty', async () => {
      await expect(log.readStream(newStream())).resolves.toEqual([]);
      await expect(log.lastEvent(newStream())).resolves.toBeUndefined();
    });

    it('knows the last event of a stream', async () => {
      const stream = newStream();
      const events = newEvents(3);
      await log.append(stream, 'none', events);
      await expect(log.lastEvent(stream)).resolves.toMatchObject({ id: events[2]?.id, revision: 2 });
    });

    it('reads all streams after a position, in the order they were written', async () => {
      const before = await log.headPosition();
      const events: NewEvent[] = newEvents(12);
      for (const event of events) await log.append(newStream(), 'none', [event]);
      const all = await log.readAll(before, 100);
      expect(idsOf(all)).toEqual(idsOf(events));
      expect(idsOf(await log.readAll(before, 5))).toEqual(idsOf(events.slice(0, 5)));
      expect(idsOf(await log.readAll(all[4]?.position, 3))).toEqual(idsOf(events.slice(5, 8)));
      await expect(log.readAll(all.at(-1)?.position, 10)).resolves.toEqual([]);
    });

    it('reads all streams from the start, and shows none of the store’s own events', async () => {
      await log.append(newStream(), 'none', newEvents(3));
      const all = await log.readAll(undefined, 100_000);
      expect(all.length).toBeGreaterThanOrEqual(3);
      expect(all.filter(({ stream, type }) => stream.startsWith('$') || type.startsWith('$'))).toEqual([]);
      expect(idsOf(await log.readAll(undefined, 2))).toEqual(idsOf(all.slice(0, 2)));
    });

    it('tells the position of the last event', async () => {
      const { position } = await log.append(newStream(), 'none', newEvents(2));
      await expect(log.headPosition()).resolves.toBe(position);
    });

    describe('subscription', () => {
      it('catches up and then stays live, in order', async () => {
        const before = await log.headPosition();
        const old = newEvents(700);
        await log.append(newStream(), 'none', old);
        const { seen, caughtUp, stop } = follow(log, before);
        await eventually(
          () => caughtUp.length,
          (times) => times > 0,
        );
        expect(idsOf(seen)).toEqual(idsOf(old));
        const fresh = newEvents(3);
        for (const event of fresh) await log.append(newStream(), 'none', [event]);
        await eventually(
          () => seen.length,
          (count) => count >= 703,
        );
        await stop();
        expect(idsOf(seen)).toEqual(idsOf([...old, ...fresh]));
      });

      it('starts at the very beginning when no position is given', async () => {
        await log.append(newStream(), 'none', newEvents(1));
        const [first] = await log.readAll(undefined, 1);
        const { seen, stop } = follow(log, undefined);
        await eventually(
          () => seen.length,
          (count) => count > 0,
        );
        await stop();
        expect(seen[0]).toEqual(first);
      });

      it('says that it has caught up with a position it has delivered everything up to', async () => {
        const before = await log.headPosition();
        const { position } = await log.append(newStream(), 'none', newEvents(2));
        const { seen, caughtUp, stop } = follow(log, before);
        await eventually(
          () => caughtUp.length,
          (times) => times > 0,
        );
        await stop();
        expect(caughtUp[0]).toBeGreaterThanOrEqual(position);
        expect(seen).toHaveLength(2);
      });

      it('hands over the next batch only when the last is done', async () => {
        const before = await log.headPosition();
        await log.append(newStream(), 'none', newEvents(400));
        await log.append(newStream(), 'none', newEvents(400));
        let running = 0;
        let most = 0;
        let count = 0;
        const subscription = log.subscribe(before, {
          async events(batch) {
            most = Math.max(most, (running += 1));
            await new Promise(setImmediate);
            running -= 1;
            count += batch.length;
          },
        });
        await eventually(
          () => count,
          (seen) => seen === 800,
        );
        await subscription.stop();
        expect(most).toBe(1);
      });

      it('hands over the same batch again when the listener fails', async () => {
        const before = await log.headPosition();
        const events = newEvents(1);
        await log.append(newStream(), 'none', events);
        const batches: string[][] = [];
        const subscription = log.subscribe(before, {
          events(batch) {
            batches.push(idsOf(batch));
            return batches.length < 3 ? Promise.reject(new Error('not yet')) : Promise.resolve();
          },
        });
        await eventually(
          () => batches.length,
          (tries) => tries === 3,
        );
        await subscription.stop();
        expect(batches).toEqual([idsOf(events), idsOf(events), idsOf(events)]);
      });

      it('delivers only the types it was asked for, and says how far it has come without them', async () => {
        const before = await log.headPosition();
        const types = [`wanted_${randomUUID()}`, `rare_${randomUUID()}`] as const;
        const one = (type: string) => newEvents(1).map((event) => ({ ...event, type }));
        const wanted = [one(types[0]), one(types[1]), one(types[0])].flat();
        for (const event of wanted) {
          await log.append(newStream(), 'none', newEvents(40));
          await log.append(newStream(), 'none', [event]);
        }
        const { position } = await log.append(newStream(), 'none', one(`${types[0]}_and_more`));
        const { seen, caughtUp, stop } = follow(log, before, types);
        await eventually(
          () => caughtUp.at(-1) ?? 0n,
          (reached) => reached >= position,
        );
        await stop();
        expect(idsOf(seen)).toEqual(idsOf(wanted));
      });

      it('delivers nothing more once it is stopped', async () => {
        const before = await log.headPosition();
        const { seen, caughtUp, stop } = follow(log, before);
        await eventually(
          () => caughtUp.length,
          (times) => times > 0,
        );
        await stop();
        const probe = follow(log, before);
        await log.append(newStream(), 'none', newEvents(1));
        await eventually(
          () => probe.seen.length,
          (count) => count > 0,
        );
        await probe.stop();
        expect(seen).toEqual([]);
      });
    });
  });
}

/** Follows a log and keeps what it hears. */
export function follow(log: EventStore, after: bigint | undefined, types?: readonly string[]) {
  const seen: StoredEvent[] = [];
  const caughtUp: bigint[] = [];
  const listener = {
    events(batch: readonly StoredEvent[]) {
      seen.push(...batch);
      return Promise.resolve();
    },
    caughtUp: (position: bigint) => caughtUp.push(position),
  };
  const subscription = log.subscribe(after, listener, types);
  return { seen, caughtUp, stop: () => subscription.stop() };
}
