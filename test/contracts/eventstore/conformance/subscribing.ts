import {
  END,
  excludeSystemEvents,
  eventTypeFilter,
  jsonEvent,
  START,
  streamNameFilter,
  type Position,
} from '@eventstore/db-client';
import { append, freshStream, Listener, type Given } from './support.js';

export const subscribing = (given: Given): void => {
  describe('a subscription to a stream', () => {
    it('shows what is there, says that it caught up, then shows what comes', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      const listener = new Listener(given().subscribeToStream(stream));
      await listener.untilCaughtUp();
      await append(given(), stream, [3]);
      await listener.until(({ events }) => events.length === 3);
      expect(listener.log).toEqual(['confirmation', 'event', 'event', 'caughtUp', 'event']);
      expect(listener.numbers(stream)).toEqual([1, 2, 3]);
      await listener.stop();
    });

    it('from a revision shows what is behind it', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2, 3]);
      const listener = new Listener(given().subscribeToStream(stream, { fromRevision: 1n }));
      await listener.untilCaughtUp();
      expect(listener.numbers(stream)).toEqual([3]);
      await listener.stop();
    });

    it('from the end shows only what comes', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      const listener = new Listener(given().subscribeToStream(stream, { fromRevision: END }));
      await listener.untilCaughtUp();
      await append(given(), stream, [3]);
      await listener.until(({ events }) => events.length === 1);
      expect(listener.numbers(stream)).toEqual([3]);
      await listener.stop();
    });

    it('may begin before the stream does', async () => {
      const stream = freshStream();
      const listener = new Listener(given().subscribeToStream(stream));
      await listener.untilCaughtUp();
      await append(given(), stream, [1]);
      await listener.until(({ events }) => events.length === 1);
      await listener.stop();
    });

    it('goes on when a deleted stream is begun again', async () => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      const listener = new Listener(given().subscribeToStream(stream));
      await listener.untilCaughtUp();
      await given().deleteStream(stream);
      await append(given(), stream, [2]);
      await listener.until(({ events }) => events.length === 2);
      expect(listener.events.map(({ event }) => event?.revision)).toEqual([0n, 1n]);
      await listener.stop();
    });
  });

  describe('a subscription to all events', () => {
    it('shows what is there and what comes, each once and in order', async () => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      const listener = new Listener(given().subscribeToAll({ fromPosition: START }));
      await append(given(), stream, [2]);
      await listener.untilCaughtUp();
      await append(given(), stream, [3]);
      await listener.until((heard) => heard.numbers(stream).length === 3);
      const positions = listener.events.map(({ event }) => event?.position?.commit ?? 0n);
      expect(listener.numbers(stream)).toEqual([1, 2, 3]);
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => (a < b ? -1 : 1)));
      expect(listener.log.filter((entry) => entry === 'caughtUp')).toHaveLength(1);
      await listener.stop();
    });

    it('from a position shows what is behind it', async () => {
      const stream = freshStream();
      const { position } = await append(given(), stream, [1]);
      await append(given(), stream, [2]);
      const listener = new Listener(given().subscribeToAll({ fromPosition: position ?? START }));
      await listener.until((heard) => heard.numbers(stream).length === 1);
      expect(listener.numbers(stream)).toEqual([2]);
      await listener.stop();
    });

    it('never skips an event, with many writers of small and large appends', async () => {
      const listener = new Listener(given().subscribeToAll({ fromPosition: END }));
      await listener.untilCaughtUp();
      const writers = Array.from({ length: 16 }, (_, writer) => freshStream(`writer-${writer}`));
      const text = 'x'.repeat(50_000);
      await Promise.all(
        writers.map(async (stream, writer) => {
          for (let n = 0; n < 20; n += 1) {
            const data = writer % 4 === 0 ? { n, text } : { n };
            await given().appendToStream(stream, jsonEvent({ type: 'happened', data }));
          }
        }),
      );
      const expected = Array.from({ length: 20 }, (_, n) => n);
      await listener.until((heard) => writers.every((stream) => heard.numbers(stream).length >= 20));
      for (const stream of writers) expect(listener.numbers(stream)).toEqual(expected);
      await listener.stop();
    });
  });

  describe('a filter', () => {
    it('by stream prefix shows only those streams', async () => {
      const [mine, other] = [freshStream('kept'), freshStream('dropped')];
      const filter = streamNameFilter({ prefixes: [mine] });
      await append(given(), mine, [1]);
      await append(given(), other, [2]);
      const listener = new Listener(given().subscribeToAll({ filter }));
      await listener.untilCaughtUp();
      await append(given(), other, [3]);
      await append(given(), mine, [4]);
      await listener.until(({ events }) => events.length === 2);
      expect(listener.numbers(mine)).toEqual([1, 4]);
      await listener.stop();
    });

    it('by type prefix shows only those types', async () => {
      const stream = freshStream();
      const type = `picked-${stream}`;
      await given().appendToStream(stream, [
        jsonEvent({ type: 'other', data: { n: 1 } }),
        jsonEvent({ type, data: { n: 2 } }),
      ]);
      const listener = new Listener(given().subscribeToAll({ filter: eventTypeFilter({ prefixes: [type] }) }));
      await listener.untilCaughtUp();
      expect(listener.numbers(stream)).toEqual([2]);
      await listener.stop();
    });

    it('by pattern shows only what matches', async () => {
      const stream = freshStream('Pattern');
      await append(given(), stream, [1]);
      const filter = streamNameFilter({ regex: `^Patt[a-z]{3}-${stream.slice(8, 16)}.*$` });
      const listener = new Listener(given().subscribeToAll({ filter }));
      await listener.untilCaughtUp();
      expect(listener.events.map(({ event }) => event?.streamId)).toEqual([stream]);
      await listener.stop();
    });

    it('leaves system events out when asked', async () => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      await given().setStreamMetadata(stream, { maxCount: 5 });
      const listener = new Listener(given().subscribeToAll({ filter: excludeSystemEvents() }));
      await listener.untilCaughtUp();
      expect(listener.events.filter(({ event }) => event?.type.startsWith('$'))).toEqual([]);
      await listener.stop();
    });

    it('tells how far it looked: after each window, and when it goes live, never the same twice', async () => {
      const other = freshStream('considered');
      const { position: begin } = await append(given(), other, [0]);
      for (let n = 1; n <= 25; n += 1) await append(given(), other, [n]);
      const checkpoints: Position[] = [];
      const filter = streamNameFilter({
        prefixes: [freshStream('nothing')],
        maxSearchWindow: 10,
        checkpointInterval: 1,
        checkpointReached: async (_, position) => {
          checkpoints.push(position);
        },
      });
      const listener = new Listener(given().subscribeToAll({ fromPosition: begin ?? START, filter }));
      await listener.untilCaughtUp();
      const commits = checkpoints.map(({ commit }) => commit);
      expect(commits.length).toBeGreaterThanOrEqual(3);
      expect(commits).toEqual([...new Set(commits)].sort((a, b) => (a < b ? -1 : 1)));
      await listener.stop();
    });
  });
};
