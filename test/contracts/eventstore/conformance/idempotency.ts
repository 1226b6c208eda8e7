import { append, contentsOf, failureOf, freshStream, happened, type Given } from './support.js';

export const idempotency = (given: Given): void => {
  describe('an append repeated with the same ids', () => {
    it('at no stream is answered like the first time, and writes nothing', async () => {
      const stream = freshStream();
      const events = happened(1, 2);
      const first = await given().appendToStream(stream, events, { expectedRevision: 'no_stream' });
      const second = await given().appendToStream(stream, events, { expectedRevision: 'no_stream' });
      expect(second).toEqual(first);
      expect(await contentsOf(given(), stream)).toHaveLength(2);
    });

    it('at the same revision is answered like the first time, however long ago that was', async () => {
      const stream = freshStream();
      await append(given(), stream, [0]);
      const events = happened(1, 2);
      const first = await given().appendToStream(stream, events, { expectedRevision: 0n });
      for (let n = 3; n < 40; n += 1) await append(given(), stream, [n]);
      const again = await given().appendToStream(stream, events, { expectedRevision: 0n });
      expect(again).toEqual(first);
      expect(await contentsOf(given(), stream)).toHaveLength(40);
    });

    it('of which it repeats only the first few is answered with the revision of those', async () => {
      const stream = freshStream();
      const [first, second, third] = happened(1, 2, 3);
      if (!first || !second || !third) throw new Error('three events were made');
      await given().appendToStream(stream, [first, second, third], { expectedRevision: 'no_stream' });
      const again = await given().appendToStream(stream, [first, second], { expectedRevision: 'no_stream' });
      expect(again.nextExpectedRevision).toBe(1n);
    });

    it('and another one behind is a conflict, and writes nothing', async () => {
      const stream = freshStream();
      const events = happened(1, 2);
      await given().appendToStream(stream, events, { expectedRevision: 'no_stream' });
      const more = [...events, ...happened(3)];
      const failure = await failureOf(given().appendToStream(stream, more, { expectedRevision: 'no_stream' }));
      expect(failure).toMatchObject({ type: 'wrong-expected-version', actualVersion: 1n });
      expect(await contentsOf(given(), stream)).toHaveLength(2);
    });

    it('in another order is a conflict', async () => {
      const stream = freshStream();
      const events = happened(1, 2);
      await given().appendToStream(stream, events, { expectedRevision: 'no_stream' });
      const failure = await failureOf(
        given().appendToStream(stream, events.toReversed(), { expectedRevision: 'no_stream' }),
      );
      expect(failure).toMatchObject({ type: 'wrong-expected-version' });
    });

    it('at a later, correct revision is written again: ids are not unique in a stream', async () => {
      const stream = freshStream();
      const events = happened(1);
      await given().appendToStream(stream, events, { expectedRevision: 'no_stream' });
      const second = await given().appendToStream(stream, events, { expectedRevision: 0n });
      expect(second.nextExpectedRevision).toBe(1n);
      expect(await contentsOf(given(), stream)).toEqual([
        [0n, 1],
        [1n, 1],
      ]);
    });

    it('to another stream is written there', async () => {
      const events = happened(1);
      await given().appendToStream(freshStream(), events);
      const other = freshStream();
      await given().appendToStream(other, events);
      expect(await contentsOf(given(), other)).toHaveLength(1);
    });

    it.each(['any', 'stream_exists'] as const)(
      'without a revision (%s) is known while it is recent',
      async (expectedRevision) => {
        const stream = freshStream();
        await append(given(), stream, [0]);
        const events = happened(1, 2);
        const first = await given().appendToStream(stream, events, { expectedRevision });
        await append(given(), stream, [3]);
        const second = await given().appendToStream(stream, events, { expectedRevision });
        expect(second).toEqual(first);
        expect(await contentsOf(given(), stream)).toHaveLength(4);
      },
    );
  });
};
