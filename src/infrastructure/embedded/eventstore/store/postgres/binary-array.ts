/*
 * Arrays in PostgreSQL's binary format. One statement then carries a whole commit, and neither side has to format or
 * parse text: a tenth of the time of quoted arrays for events with a body.
 */

export const Oid = { bool: 16, bytea: 17, int8: 20, text: 25, uuid: 2950 } as const;

const ARRAY_HEADER = 20;

/** An array of values that are bytes already. */
export function bytesArray(oid: number, values: readonly Buffer[]): Buffer {
  const size = values.reduce((sum, value) => sum + 4 + value.length, ARRAY_HEADER);
  const array = header(oid, values.length, size);
  let at = ARRAY_HEADER;
  for (const value of values) {
    array.writeInt32BE(value.length, at);
    value.copy(array, at + 4);
    at += 4 + value.length;
  }
  return array;
}

export function textArray(values: readonly string[]): Buffer {
  const lengths = values.map((value) => Buffer.byteLength(value));
  const size = lengths.reduce((sum, length) => sum + 4 + length, ARRAY_HEADER);
  const array = header(Oid.text, values.length, size);
  let at = ARRAY_HEADER;
  for (const [index, value] of values.entries()) {
    at = array.writeInt32BE(lengths[index] ?? 0, at);
    at += array.write(value, at, 'utf8');
  }
  return array;
}

/** Whole numbers up to 2^53; 2^63 stands for the largest value the column holds. */
export function int8Array(values: readonly number[]): Buffer {
  const array = header(Oid.int8, values.length, ARRAY_HEADER + 12 * values.length);
  let at = ARRAY_HEADER;
  for (const value of values) {
    at = array.writeInt32BE(8, at);
    if (value >= 2 ** 63) at = array.writeBigInt64BE(2n ** 63n - 1n, at);
    else at = array.writeUInt32BE(value % 2 ** 32, array.writeUInt32BE(Math.floor(value / 2 ** 32), at));
  }
  return array;
}

/** Ids as latin-1 strings of sixteen bytes. */
export function uuidArray(ids: readonly string[]): Buffer {
  const array = header(Oid.uuid, ids.length, ARRAY_HEADER + 20 * ids.length);
  let at = ARRAY_HEADER;
  for (const id of ids) {
    at = array.writeInt32BE(16, at);
    at += array.write(id, at, 'latin1');
  }
  return array;
}

export function boolArray(values: readonly boolean[]): Buffer {
  const array = header(Oid.bool, values.length, ARRAY_HEADER + 5 * values.length);
  let at = ARRAY_HEADER;
  for (const value of values) at = array.writeUInt8(value ? 1 : 0, array.writeInt32BE(1, at));
  return array;
}

/** One dimension, no nulls, counted from one. */
function header(oid: number, count: number, size: number): Buffer {
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(count, 12);
  array.writeInt32BE(1, 16);
  return array;
}
