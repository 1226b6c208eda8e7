import fc from 'fast-check';
import { putVarint, varintLength } from '../../../src/infrastructure/protobuf/wire.js';

/** As the protocol buffers' encoding defines it: seven bits at a time, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

const written = (value: number): Buffer => {
  const target = Buffer.alloc(10);
  return target.subarray(0, putVarint(target, 0, value));
};

describe('a whole number', () => {
  const edges = Array.from({ length: 53 }, (_, bits) => 2 ** bits).flatMap((edge) => [edge - 1, edge, edge + 1]);

  it.each(edges.filter(Number.isSafeInteger))(
    '%d is written in seven bits at a time, as long as its size says',
    (value) => {
      expect(written(value)).toEqual(varint(value));
      expect(varintLength(value)).toBe(varint(value).length);
    },
  );

  it('of any size is written in seven bits at a time, as long as its size says', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(written(value)).toEqual(varint(value));
        expect(varintLength(value)).toBe(varint(value).length);
      }),
      { numRuns: 2_000 },
    );
  });
});
