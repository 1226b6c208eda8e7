import { END, jsonEvent, START, StreamNotFoundError, type Position } from '@eventstore/db-client';
import { append, collect, failureOf, freshStream, type Given, type Happened } from './support.js';

export const reading = (given: Given): void => {
  const revisions = async (
    stream: string,
    options: Parameters<ReturnType<Given>['readStream']>[1],
  ): Promise<number[]> =>
    (await collect(given().readStream<Happened>(stream, options))).map(({ event }) => Number(event?.revision));

  describe('reading a stream', () => {
    let stream: string;
    beforeAll(async () => {
      stream = freshStream();
      await append(given(), stream, [0, 1, 2, 3, 4]);
    });

    it('forwards begins with the revision asked for', async () => {
      expect(await revisions(stream, { fromRevision: 2n })).toEqual([2, 3, 4]);
    });

    it('backwards begins with the revision asked for', async () => {
      expect(await revisions(stream, { fromRevision: 2n, direction: 'backwards' })).toEqual([2, 1, 0]);
    });

    it('backwards from the end begins with the last', async () => {
      expect(await revisions(stream, { fromRevision: END, direction: 'backwards', maxCount: 2 })).toEqual([4, 3]);
    });

    it('backwards from beyond the end begins with the last', async () => {
      expect(await revisions(stream, { fromRevision: 1000n, direction: 'backwards', maxCount: 1 })).toEqual([4]);
    });

    it('backwards from the start shows the first', async () => {
      expect(await revisions(stream, { fromRevision: START, direction: 'backwards' })).toEqual([0]);
    });

    it('stops after the count asked for', async () => {
      expect(await revisions(stream, { maxCount: 3 })).toEqual([0, 1, 2]);
    });

    it('from beyond the end shows nothing, without complaint', async () => {
      expect(await revisions(stream, { fromRevision: 5n })).toEqual([]);
      expect(await revisions(stream, { fromRevision: END })).toEqual([]);
    });

    it('that never was says that it is not found', async () => {
      const absent = freshStream();
      const failure = await failureOf(given().readStream(absent));
      expect(failure).toBeInstanceOf(StreamNotFoundError);
      expect(failure).toMatchObject({ streamName: absent });
    });

    it('longer than a page shows all of it', async () => {
      const long = freshStream();
      const numbers = Array.from({ length: 2500 }, (_, n) => n);
      for (let at = 0; at < numbers.length; at += 500) await append(given(), long, numbers.slice(at, at + 500));
      expect(await revisions(long, {})).toEqual(numbers);
      expect(await revisions(long, { direction: 'backwards', fromRevision: END })).toEqual(numbers.toReversed());
    });

    it('of large events shows all of them', async () => {
      const heavy = freshStream();
      const text = 'x'.repeat(900_000);
      for (let n = 0; n < 12; n += 1)
        await given().appendToStream(heavy, jsonEvent({ type: 'heavy', data: { n, text } }));
      expect(await revisions(heavy, {})).toEqual(Array.from({ length: 12 }, (_, n) => n));
    });
  });

  describe('reading all events', () => {
    const positionsOf = async (options: Parameters<ReturnType<Given>['readAll']>[0]): Promise<Position[]> =>
      (await collect(given().readAll(options))).flatMap(({ event }) => (event?.position ? [event.position] : []));
    let written: Position[];
    beforeAll(async () => {
      written = [];
      for (let n = 0; n < 4; n += 1) {
        const { position } = await append(given(), freshStream(), [n]);
        if (position) written.push(position);
      }
    });

    it('forwards begins with the position asked for', async () => {
      const [second, third] = [written[1], written[2]];
      expect(await positionsOf({ fromPosition: second ?? START, maxCount: 2 })).toEqual([second, third]);
    });

    it('backwards begins before the position asked for', async () => {
      const [second, third] = [written[1], written[2]];
      const found = await positionsOf({ fromPosition: third ?? END, direction: 'backwards', maxCount: 1 });
      expect(found).toEqual([second]);
    });

    it('backwards from the end begins with the last', async () => {
      const [last] = await positionsOf({ fromPosition: END, direction: 'backwards', maxCount: 1 });
      expect(last?.commit).toBeGreaterThanOrEqual(written[3]?.commit ?? 0n);
    });

    it('forwards from the end and backwards from the start show nothing', async () => {
      expect(await positionsOf({ fromPosition: END })).toEqual([]);
      expect(await positionsOf({ fromPosition: START, direction: 'backwards' })).toEqual([]);
    });

    it('shows an append in one piece, also among concurrent ones', async () => {
      const streams = Array.from({ length: 20 }, () => freshStream('piece'));
      const { position: before } = await append(given(), freshStream('before'), [0]);
      await Promise.all(streams.map((stream) => append(given(), stream, [1, 2, 3])));
      const all = await collect(given().readAll({ fromPosition: before ?? START }));
      const order = all.flatMap(({ event }) => (event && streams.includes(event.streamId) ? [event.streamId] : []));
      expect(order).toHaveLength(60);
      for (let at = 0; at < order.length; at += 3) expect(new Set(order.slice(at, at + 3)).size).toBe(1);
    });

    it('shows a new store the event that the store itself begins with', async () => {
      const [first] = await collect(given().readAll({ maxCount: 1 }));
      expect(first?.event?.type.startsWith('$')).toBe(true);
    });
  });

  describe('a link', () => {
    const linkTo = (target: string) =>
      ({
        ...jsonEvent({ type: '$>', data: {} }),
        contentType: 'application/octet-stream',
        data: Buffer.from(target),
      }) as const;

    it('is followed when asked, and shown with what it points to', async () => {
      const [source, links] = [freshStream(), freshStream('links')];
      await append(given(), source, [7, 8]);
      await given().appendToStream(links, linkTo(`1@${source}`));
      const [resolved] = await collect(given().readStream(links, { resolveLinkTos: true }));
      expect(resolved?.event).toMatchObject({ streamId: source, revision: 1n, data: { n: 8 } });
      expect(resolved?.link).toMatchObject({ streamId: links, revision: 0n, type: '$>' });
    });

    it('is shown as it is when not', async () => {
      const [source, links] = [freshStream(), freshStream('links')];
      await append(given(), source, [7]);
      await given().appendToStream(links, linkTo(`0@${source}`));
      const [plain] = await collect(given().readStream(links));
      expect(plain?.event).toMatchObject({ streamId: links, type: '$>' });
      expect(plain?.link).toBeUndefined();
    });

    it('to what is gone is shown without it', async () => {
      const [source, links] = [freshStream(), freshStream('links')];
      await append(given(), source, [7]);
      await given().appendToStream(links, linkTo(`0@${source}`));
      await given().deleteStream(source);
      const [dangling] = await collect(given().readStream(links, { resolveLinkTos: true }));
      expect(dangling?.event).toBeUndefined();
      expect(dangling?.link).toMatchObject({ streamId: links });
    });
  });
};
