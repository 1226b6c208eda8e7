import { END, jsonEvent, START } from '@eventstore/db-client';
import { append, collect, contentsOf, freshStream, Listener, type Given } from './support.js';

export const truncation = (given: Given): void => {
  describe('stream metadata', () => {
    it('is read back as it was set, custom keys included', async () => {
      const stream = freshStream();
      const metadata = { maxCount: 17, maxAge: 60, truncateBefore: 3, cacheControl: 11, owner: { team: 'blue' } };
      await given().setStreamMetadata(stream, metadata);
      expect((await given().getStreamMetadata(stream)).metadata).toEqual(metadata);
    });

    it('is absent until it is set', async () => {
      const { metadata } = await given().getStreamMetadata(freshStream());
      expect(metadata).toBeUndefined();
    });

    it('is replaced whole, and only the last is kept', async () => {
      const stream = freshStream();
      await given().setStreamMetadata(stream, { maxCount: 1, colour: 'red' });
      await given().setStreamMetadata(stream, { maxCount: 2 });
      expect((await given().getStreamMetadata(stream)).metadata).toEqual({ maxCount: 2 });
      expect(await collect(given().readStream(`$$${stream}`))).toHaveLength(1);
    });

    it('obeys the revision expected of it', async () => {
      const stream = freshStream();
      await given().setStreamMetadata(stream, { maxCount: 1 }, { expectedRevision: 'no_stream' });
      await expect(
        given().setStreamMetadata(stream, { maxCount: 2 }, { expectedRevision: 'no_stream' }),
      ).rejects.toMatchObject({ type: 'wrong-expected-version', actualVersion: 0n });
      await given().setStreamMetadata(stream, { maxCount: 3 }, { expectedRevision: 0n });
    });

    it('that cannot be understood has no effect', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await given().appendToStream(
        `$$${stream}`,
        jsonEvent({ type: '$metadata', data: { $maxCount: 'many', $tb: null } }),
      );
      expect(await contentsOf(given(), stream)).toHaveLength(2);
    });
  });

  describe('a truncated stream', () => {
    it('shows the last events up to its maximum count', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2, 3, 4, 5]);
      await given().setStreamMetadata(stream, { maxCount: 2 });
      expect(await contentsOf(given(), stream)).toEqual([
        [3n, 4],
        [4n, 5],
      ]);
    });

    it('shows the events from its truncation on', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2, 3, 4, 5]);
      await given().setStreamMetadata(stream, { truncateBefore: 3 });
      expect(await contentsOf(given(), stream)).toEqual([
        [3n, 4],
        [4n, 5],
      ]);
    });

    it('obeys whichever of the two hides more', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2, 3, 4, 5]);
      await given().setStreamMetadata(stream, { truncateBefore: 4, maxCount: 3 });
      expect(await contentsOf(given(), stream)).toEqual([[4n, 5]]);
    });

    it('is empty, not absent, when it is truncated beyond its end', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await given().setStreamMetadata(stream, { truncateBefore: 100 });
      expect(await contentsOf(given(), stream)).toEqual([]);
      await append(given(), stream, [3], { expectedRevision: 1n });
    });

    it('hides events older than its maximum age', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await given().setStreamMetadata(stream, { maxAge: 3600 });
      expect(await contentsOf(given(), stream)).toHaveLength(2);
      await given().appendToStream(`$$${stream}`, jsonEvent({ type: '$metadata', data: { $maxAge: 0 } }));
      const [event] = await collect(given().readStream(stream, { maxCount: 1 }));
      expect(event).toBeUndefined();
    });

    it('reads backwards only as far as it is visible', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2, 3, 4]);
      await given().setStreamMetadata(stream, { truncateBefore: 2 });
      const events = await collect(given().readStream(stream, { direction: 'backwards', fromRevision: END }));
      expect(events.map(({ event }) => event?.revision)).toEqual([3n, 2n]);
    });

    it('shows its subscribers what is visible', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2, 3]);
      await given().setStreamMetadata(stream, { maxCount: 1 });
      const listener = new Listener(given().subscribeToStream(stream));
      await listener.untilCaughtUp();
      expect(listener.numbers(stream)).toEqual([3]);
      await listener.stop();
    });

    it('keeps all its events among all events', async () => {
      const stream = freshStream();
      const { position } = await append(given(), stream, [1]);
      await append(given(), stream, [2]);
      await given().setStreamMetadata(stream, { maxCount: 1 });
      const [first] = await collect(given().readAll({ fromPosition: position ?? START, maxCount: 1 }));
      expect(first?.event).toMatchObject({ streamId: stream, revision: 0n });
    });
  });
};
