import { StreamDeletedError, StreamNotFoundError, START } from '@eventstore/db-client';
import { append, collect, contentsOf, failureOf, freshStream, Listener, type Given } from './support.js';

export const deleting = (given: Given): void => {
  describe('a deleted stream', () => {
    it('reads as if it were not there', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await given().deleteStream(stream);
      expect(await failureOf(given().readStream(stream))).toBeInstanceOf(StreamNotFoundError);
    });

    it.each([
      ['any revision', 'any'],
      ['no stream', 'no_stream'],
      ['its last revision', 1n],
    ] as const)('is begun again by an append at %s, and its numbers go on', async (_, expectedRevision) => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await given().deleteStream(stream);
      const { nextExpectedRevision } = await append(given(), stream, [3, 4], { expectedRevision });
      expect(nextExpectedRevision).toBe(3n);
      expect(await contentsOf(given(), stream)).toEqual([
        [2n, 3],
        [3n, 4],
      ]);
    });

    it('is not begun again at another revision, nor by who expects it to exist', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await given().deleteStream(stream);
      const early = await failureOf(append(given(), stream, [3], { expectedRevision: 0n }));
      expect(early).toMatchObject({ type: 'wrong-expected-version' });
      const existing = await failureOf(append(given(), stream, [3], { expectedRevision: 'stream_exists' }));
      expect(existing).toBeInstanceOf(StreamDeletedError);
    });

    it('is begun again by metadata, empty, and forgets what was before', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await given().deleteStream(stream);
      await given().setStreamMetadata(stream, { maxCount: 5, colour: 'blue' });
      expect(await contentsOf(given(), stream)).toEqual([]);
      const { metadata } = await given().getStreamMetadata(stream);
      expect(metadata).toMatchObject({ maxCount: 5, colour: 'blue', truncateBefore: 2 });
      await append(given(), stream, [3]);
      expect(await contentsOf(given(), stream)).toEqual([[2n, 3]]);
    });

    it('can be deleted and begun again many times', async () => {
      const stream = freshStream();
      for (let round = 0; round < 5; round += 1) {
        await append(given(), stream, [round], { expectedRevision: 'no_stream' });
        expect(await contentsOf(given(), stream)).toEqual([[BigInt(round), round]]);
        await given().deleteStream(stream);
      }
    });

    it('keeps its events among all events', async () => {
      const stream = freshStream();
      const { position } = await append(given(), stream, [1]);
      await given().deleteStream(stream);
      const [kept] = await collect(given().readAll({ fromPosition: position ?? START, maxCount: 1 }));
      expect(kept?.event?.streamId).toBe(stream);
    });
  });

  describe('a delete', () => {
    it('answers with its position', async () => {
      const stream = freshStream();
      const { position: before } = await append(given(), stream, [1]);
      const { position } = await given().deleteStream(stream);
      expect(position?.commit).toBeGreaterThan(before?.commit ?? 0n);
    });

    it('at the wrong revision is refused with both', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      const failure = await failureOf(given().deleteStream(stream, { expectedRevision: 0n }));
      expect(failure).toMatchObject({
        type: 'wrong-expected-version',
        streamName: stream,
        expectedVersion: 0n,
        actualVersion: 1n,
      });
      await given().deleteStream(stream, { expectedRevision: 1n });
    });

    it('of what never was is refused, even at any revision', async () => {
      const failure = await failureOf(given().deleteStream(freshStream(), { expectedRevision: 'any' }));
      expect(failure).toMatchObject({ type: 'wrong-expected-version' });
    });

    it('at no stream is accepted when there is only metadata', async () => {
      const stream = freshStream();
      await given().setStreamMetadata(stream, { maxCount: 1 });
      await given().deleteStream(stream, { expectedRevision: 'no_stream' });
      expect(await failureOf(given().readStream(stream))).toBeInstanceOf(StreamNotFoundError);
    });
  });

  describe('a tombstoned stream', () => {
    it('can be neither read nor written, ever', async () => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      await given().tombstoneStream(stream);
      expect(await failureOf(given().readStream(stream))).toMatchObject({ type: 'stream-deleted', streamName: stream });
      for (const expectedRevision of ['any', 'no_stream', 'stream_exists', 0n] as const) {
        const failure = await failureOf(append(given(), stream, [2], { expectedRevision }));
        expect(failure).toBeInstanceOf(StreamDeletedError);
      }
      expect(await failureOf(given().setStreamMetadata(stream, { maxCount: 1 }))).toBeInstanceOf(StreamDeletedError);
      expect(await failureOf(given().deleteStream(stream))).toBeInstanceOf(StreamDeletedError);
      expect(await failureOf(given().tombstoneStream(stream))).toBeInstanceOf(StreamDeletedError);
    });

    it('need not have existed', async () => {
      const stream = freshStream();
      await given().tombstoneStream(stream, { expectedRevision: 'no_stream' });
      expect(await failureOf(append(given(), stream, [1]))).toBeInstanceOf(StreamDeletedError);
    });

    it('is not made at the wrong revision', async () => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      const failure = await failureOf(given().tombstoneStream(stream, { expectedRevision: 5n }));
      expect(failure).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 5n, actualVersion: 0n });
      expect(await contentsOf(given(), stream)).toHaveLength(1);
    });

    it('ends the subscriptions to it, after what came before', async () => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      const listener = new Listener(given().subscribeToStream(stream));
      await listener.untilCaughtUp();
      await append(given(), stream, [2]);
      await given().tombstoneStream(stream);
      await listener.until(({ error }) => error !== undefined);
      expect(listener.error).toBeInstanceOf(StreamDeletedError);
      expect(listener.numbers(stream)).toEqual([1, 2]);
    });

    it('refuses a new subscription', async () => {
      const stream = freshStream();
      await given().tombstoneStream(stream);
      const listener = new Listener(given().subscribeToStream(stream));
      await listener.until(({ error }) => error !== undefined);
      expect(listener.error).toBeInstanceOf(StreamDeletedError);
    });

    it('shows the tombstone among all events', async () => {
      const stream = freshStream();
      const { position } = await given().tombstoneStream(stream);
      const [tombstone] = await collect(given().readAll({ fromPosition: position ?? START, maxCount: 1 }));
      expect(tombstone?.event).toMatchObject({ streamId: stream, type: '$streamDeleted', revision: 2n ** 63n - 1n });
    });
  });
};
