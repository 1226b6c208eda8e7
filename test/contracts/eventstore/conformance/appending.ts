import {
  binaryEvent,
  jsonEvent,
  WrongExpectedVersionError,
  MaxAppendSizeExceededError,
  InvalidArgumentError,
} from '@eventstore/db-client';
import { append, collect, contentsOf, failureOf, freshStream, happened, type Given } from './support.js';

export const appending = (given: Given): void => {
  describe('an append', () => {
    it('answers with the revision and the position of its last event', async () => {
      const stream = freshStream();
      const { success, nextExpectedRevision, position } = await append(given(), stream, [1, 2, 3]);
      const events = await collect(given().readStream(stream));
      expect([success, nextExpectedRevision]).toEqual([true, 2n]);
      expect(position).toEqual(events[2]?.event?.position);
    });

    it('keeps the events in their order, numbered from zero', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      await append(given(), stream, [3]);
      expect(await contentsOf(given(), stream)).toEqual([
        [0n, 1],
        [1n, 2],
        [2n, 3],
      ]);
    });

    it('keeps id, type, data, metadata and the time to the millisecond', async () => {
      const stream = freshStream();
      const event = jsonEvent({ type: 'Größe geändert', data: { text: 'naïve ✓ 日本' }, metadata: { by: 'Zoë' } });
      const before = Date.now();
      await given().appendToStream(stream, event);
      const [read] = await collect(given().readStream(stream));
      expect(read?.event).toMatchObject({
        id: event.id,
        type: event.type,
        data: event.data,
        metadata: event.metadata,
        isJson: true,
      });
      expect(read?.event?.created.getTime()).toBeGreaterThanOrEqual(before);
      expect(read?.event?.created.getTime()).toBeLessThanOrEqual(Date.now());
    });

    it('keeps binary events byte for byte', async () => {
      const stream = freshStream();
      const data = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      await given().appendToStream(stream, binaryEvent({ type: 'bytes', data, metadata: new Uint8Array([0, 255]) }));
      const [read] = await collect(given().readStream(stream));
      expect(read?.event?.isJson).toBe(false);
      expect(Buffer.from(read?.event?.data as Uint8Array).equals(Buffer.from(data))).toBe(true);
      expect(Buffer.from(read?.event?.metadata as Uint8Array).equals(Buffer.from([0, 255]))).toBe(true);
    });

    it('of nothing succeeds and writes nothing', async () => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      const { nextExpectedRevision } = await given().appendToStream(stream, [], { expectedRevision: 0n });
      expect(nextExpectedRevision).toBe(0n);
      expect(await contentsOf(given(), stream)).toEqual([[0n, 1]]);
    });

    it('of several hundred events is one', async () => {
      const stream = freshStream();
      const numbers = Array.from({ length: 500 }, (_, n) => n);
      await append(given(), stream, numbers, { expectedRevision: 'no_stream' });
      expect((await contentsOf(given(), stream)).map(([, n]) => n)).toEqual(numbers);
    });

    it('sent in several chunks is one', async () => {
      const stream = freshStream();
      const events = happened(...Array.from({ length: 200 }, (_, n) => n));
      const { nextExpectedRevision } = await given().appendToStream(stream, events, { batchAppendSize: 1000 });
      expect(nextExpectedRevision).toBe(199n);
      expect(await contentsOf(given(), stream)).toHaveLength(200);
    });

    it('larger than a mebibyte is refused whole', async () => {
      const stream = freshStream();
      const large = jsonEvent({ type: 'large', data: { text: 'x'.repeat(600_000) } });
      const failure = await failureOf(
        given().appendToStream(stream, [large, { ...large, id: happened(1)[0]?.id ?? '' }]),
      );
      expect(failure).toBeInstanceOf(MaxAppendSizeExceededError);
      expect(failure).toMatchObject({ maxAppendSize: 1024 * 1024 });
      await append(given(), stream, [1], { expectedRevision: 'no_stream' });
    });

    it('just below a mebibyte is taken', async () => {
      const stream = freshStream();
      const data = new Uint8Array(1024 * 1024 - 2 * 'large'.length);
      await given().appendToStream(stream, binaryEvent({ type: 'large', data }));
      const [read] = await collect(given().readStream(stream));
      expect((read?.event?.data as Uint8Array).length).toBe(data.length);
    });

    it('in a call of its own does the same as one among many', async () => {
      const stream = freshStream();
      const alone = { credentials: { username: 'admin', password: 'changeit' } };
      const first = await append(given(), stream, [1, 2], { ...alone, expectedRevision: 'no_stream' });
      expect([first.success, first.nextExpectedRevision]).toEqual([true, 1n]);
      const failure = await failureOf(append(given(), stream, [3], { ...alone, expectedRevision: 7n }));
      expect(failure).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 7n, actualVersion: 1n });
      expect(await contentsOf(given(), stream)).toEqual([
        [0n, 1],
        [1n, 2],
      ]);
    });
  });

  describe('an expectation', () => {
    it.each([
      ['any', 'any'],
      ['no stream', 'no_stream'],
    ] as const)('of %s lets a stream begin', async (_, expectedRevision) => {
      const { nextExpectedRevision } = await append(given(), freshStream(), [1], { expectedRevision });
      expect(nextExpectedRevision).toBe(0n);
    });

    it.each([
      ['any', 'any'],
      ['the exact revision', 0n],
      ['an existing stream', 'stream_exists'],
    ] as const)('of %s lets a stream go on', async (_, expectedRevision) => {
      const stream = freshStream();
      await append(given(), stream, [1]);
      const { nextExpectedRevision } = await append(given(), stream, [2], { expectedRevision });
      expect(nextExpectedRevision).toBe(1n);
    });

    it('of no stream is refused when there is one, with the revision it has', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      const failure = await failureOf(append(given(), stream, [3], { expectedRevision: 'no_stream' }));
      expect(failure).toBeInstanceOf(WrongExpectedVersionError);
      expect(failure).toMatchObject({ streamName: stream, expectedVersion: 'no_stream', actualVersion: 1n });
    });

    it('of a revision is refused when there is no stream', async () => {
      const failure = await failureOf(append(given(), freshStream(), [1], { expectedRevision: 4n }));
      expect(failure).toMatchObject({
        type: 'wrong-expected-version',
        expectedVersion: 4n,
        actualVersion: 'no_stream',
      });
    });

    it('of a revision is refused when the stream is behind it or beyond it', async () => {
      const stream = freshStream();
      await append(given(), stream, [1, 2]);
      for (const expectedRevision of [0n, 2n, 99n]) {
        const failure = await failureOf(append(given(), stream, [3], { expectedRevision }));
        expect(failure).toMatchObject({ type: 'wrong-expected-version', actualVersion: 1n });
      }
      expect(await contentsOf(given(), stream)).toHaveLength(2);
    });

    it('of an existing stream is refused when there is none', async () => {
      const failure = await failureOf(append(given(), freshStream(), [1], { expectedRevision: 'stream_exists' }));
      expect(failure).toMatchObject({ type: 'wrong-expected-version', expectedVersion: 'stream_exists' });
    });

    it('of an existing stream is met by metadata alone', async () => {
      const stream = freshStream();
      await given().setStreamMetadata(stream, { maxCount: 10 });
      const { nextExpectedRevision } = await append(given(), stream, [1], { expectedRevision: 'stream_exists' });
      expect(nextExpectedRevision).toBe(0n);
    });

    it('lets exactly one of many concurrent writers win', async () => {
      const stream = freshStream();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, (_, n) => append(given(), stream, [n], { expectedRevision: 'no_stream' })),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await contentsOf(given(), stream)).toHaveLength(1);
    });
  });

  describe('what a client must not send', () => {
    it('is refused with a type of its own where the client has one', async () => {
      expect(InvalidArgumentError).toBeDefined();
      const failure = await failureOf(append(given(), '', [1]));
      expect(failure).toBeInstanceOf(Error);
    });
  });
};
