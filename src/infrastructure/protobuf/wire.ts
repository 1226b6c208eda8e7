/**
 * Protocol Buffers by hand: only what the event-store messages need. Numbers are plain doubles, exact up to 2^53;
 * larger values read as {@link HUGE} or above, which is all that the protocol's "end" (2^64-1) needs.
 */

/** What a 64-bit field that exceeds 2^53 reads as, at least. */
export const HUGE = Number.MAX_SAFE_INTEGER;

export class MalformedMessage extends Error {}

/** Walks the fields of one message. `next()` moves to a field; the reader for its type then takes its value. */
export class WireReader {
  field = 0;
  private wireType = 0;

  constructor(
    private readonly bytes: Buffer,
    private at = 0,
    private readonly end = bytes.length,
  ) {}

  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.varint();
    this.field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.field === 0) throw new MalformedMessage('field number zero');
    return true;
  }

  /** An unsigned number; negative int64 values therefore read as huge ones. */
  number(): number {
    this.expect(0);
    return this.varint();
  }

  bool(): boolean {
    return this.number() !== 0;
  }

  /** A 64-bit value that must keep every bit, as the halves of a structured uuid do. */
  bigint(): bigint {
    this.expect(0);
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new MalformedMessage('varint too long');
  }

  /** A view of the field's bytes, not a copy. */
  view(): Buffer {
    const end = this.block();
    const view = this.bytes.subarray(this.at, end);
    this.at = end;
    return view;
  }

  string(): string {
    const end = this.block();
    const text = this.bytes.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }

  /** A reader for the message inside this field. */
  message(): WireReader {
    const end = this.block();
    const inner = new WireReader(this.bytes, this.at, end);
    this.at = end;
    return inner;
  }

  skip(): void {
    if (this.wireType === 0) this.varint();
    else if (this.wireType === 1) this.move(8);
    else if (this.wireType === 5) this.move(4);
    else this.at = this.block();
  }

  private expect(wireType: number): void {
    if (this.wireType !== wireType) throw new MalformedMessage('unexpected wire type');
  }

  private block(): number {
    this.expect(2);
    const end = this.varint() + this.at;
    if (end > this.end) throw new MalformedMessage('field longer than its message');
    return end;
  }

  private move(count: number): void {
    this.at += count;
    if (this.at > this.end) throw new MalformedMessage('message cut short');
  }

  private byte(): number {
    const byte = this.at < this.end ? this.bytes[this.at] : undefined;
    if (byte === undefined) throw new MalformedMessage('message cut short');
    this.at += 1;
    return byte;
  }

  private varint(): number {
    let byte = this.byte();
    let value = byte & 0x7f;
    for (let scale = 128, length = 1; byte >= 0x80; scale *= 128, length += 1) {
      if (length === 10) throw new MalformedMessage('varint too long');
      byte = this.byte();
      value += (byte & 0x7f) * scale;
    }
    return value;
  }
}

/** Bytes of `value` as a varint. */
export function varintLength(value: number): number {
  if (value < 0x80) return 1;
  if (value > 0x7fffffff) return 4 + varintLength(Math.floor(value / 0x10000000));
  const bits = 32 - Math.clz32(value);
  return Math.trunc((bits + 6) / 7);
}

/** Writes `value` as a varint and answers the offset behind it. */
export function putVarint(target: Buffer, at: number, value: number): number {
  let rest = value;
  // Four groups of seven bits at a time, so that what is left is soon small enough for whole-number arithmetic.
  while (rest > 0x7fffffff) {
    const low = rest % 0x10000000;
    target[at++] = (low & 0x7f) | 0x80;
    target[at++] = ((low >>> 7) & 0x7f) | 0x80;
    target[at++] = ((low >>> 14) & 0x7f) | 0x80;
    target[at++] = (low >>> 21) | 0x80;
    rest = Math.floor(rest / 0x10000000);
  }
  while (rest > 0x7f) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** Builds one message. Meant for small ones; events have an encoder of their own. */
export class WireWriter {
  private bytes = Buffer.allocUnsafe(128);
  private length = 0;

  number(field: number, value: number): this {
    this.tag(field, 0);
    this.reserve(10);
    this.length = putVarint(this.bytes, this.length, value);
    return this;
  }

  bigint(field: number, value: bigint): this {
    this.tag(field, 0);
    this.reserve(10);
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fn; rest >>= 7n) this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.bytes[this.length++] = Number(rest);
    return this;
  }

  block(field: number, value: Uint8Array): this {
    this.tag(field, 2);
    this.reserve(10 + value.length);
    this.length = putVarint(this.bytes, this.length, value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
    return this;
  }

  string(field: number, value: string): this {
    return this.block(field, Buffer.from(value, 'utf8'));
  }

  message(field: number, build: (inner: WireWriter) => void): this {
    const inner = new WireWriter();
    build(inner);
    return this.block(field, inner.finish());
  }

  /** A field whose message carries nothing: its presence is the value. */
  empty(field: number): this {
    this.tag(field, 2);
    this.reserve(1);
    this.bytes[this.length++] = 0;
    return this;
  }

  finish(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  private tag(field: number, wireType: number): void {
    this.reserve(5);
    this.length = putVarint(this.bytes, this.length, field * 8 + wireType);
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + count));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}
