import { END, StreamNotFoundError } from '@eventstore/db-client';
import { append, collect, contentsOf, failureOf, freshStream, happened, Listener, type Given } from './support.js';

/** What only the embedded event store promises: other servers may answer otherwise and be right. */
export const promises = (given: Given): void => {
  describe('the embedded event store promises that', () => {
    it('an append repeated while the first is under way is answered with the first', async () => {
      const stream = freshStream();
      const events = happened(1, 2);
      const all = await Promise.all(
        Array.from({ length: 10 }, () => given().appendToStream(stream, events, { expectedRevision: 'no_stream' })),
      );
      for (const each of all) expect(each).toEqual(all[0]);
      expect(await contentsOf(given(), stream)).toHaveLength(2);
    });

    it('a deleted stream stays deleted when its first append is repeated', async () => {
      const stream = freshStream();
      const events = happened(1);
      await given().appendToStream(stream, events, { expectedRevision: 'no_stream' });
      await given().deleteStream(stream);
      const { nextExpectedRevision } = await given().appendToStream(stream, events, { expectedRevision: 'no_stream' });
      expect(nextExpectedRevision).toBe(0n);
      expect(await failureOf(given().readStream(stream))).toBeInstanceOf(StreamNotFoundError);
    });

    it('positions rise by more than one', async () => {
      for (let n = 0; n < 5; n += 1) await append(given(), freshStream(), [n]);
      const all = await collect(given().readAll({ maxCount: 3000 }));
      const found = all.flatMap(({ event }) => (event ? [event.position.commit] : []));
      expect(found.length).toBeGreaterThan(5);
      for (const [index, position] of found.slice(1).entries()) {
        expect(position).toBeGreaterThan((found[index] ?? 0n) + 1n);
      }
    });

    it('what a subscriber sees can be read back, also before its writer has the answer', async () => {
      const stream = freshStream();
      const listener = new Listener(given().subscribeToAll({ fromPosition: END }));
      await listener.untilCaughtUp();
      const appended = append(given(), stream, [1]);
      await listener.until((heard) => heard.numbers(stream).length === 1);
      const read = [];
      for await (const event of given().readStream(stream)) read.push(event);
      expect(read).toHaveLength(1);
      await appended;
      await listener.stop();
    });
  });
};
