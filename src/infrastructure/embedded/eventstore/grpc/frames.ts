import { CallError, Status } from './status.js';

/** A flag byte and four bytes of length precede each message. */
export const FRAME_HEADER = 5;

export function putFrameHeader(target: Buffer, at: number, length: number): number {
  target[at] = 0;
  target.writeUInt32BE(length, at + 1);
  return at + FRAME_HEADER;
}

export function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(FRAME_HEADER + message.length);
  message.copy(framed, putFrameHeader(framed, 0, message.length));
  return framed;
}

/** Cuts a byte stream into messages. A message is a view of what was received whenever it arrived in one piece. */
export class FrameReader {
  private pieces: Buffer[] = [];
  private have = 0;
  private need = FRAME_HEADER;

  constructor(
    private readonly limit: number,
    private readonly onMessage: (message: Buffer) => void,
  ) {}

  push(chunk: Buffer): void {
    this.pieces.push(chunk);
    this.have += chunk.length;
    if (this.have < this.need) return; // the pieces of a long message are joined once, not once per piece
    let bytes = this.pieces.length === 1 ? chunk : Buffer.concat(this.pieces, this.have);
    this.need = FRAME_HEADER;
    while (bytes.length >= FRAME_HEADER) {
      const whole = FRAME_HEADER + this.lengthOf(bytes);
      if (bytes.length < whole) {
        this.need = whole;
        break;
      }
      this.onMessage(bytes.subarray(FRAME_HEADER, whole));
      bytes = bytes.subarray(whole);
    }
    this.pieces = bytes.length > 0 ? [bytes] : [];
    this.have = bytes.length;
  }

  /** True when the peer stopped in the middle of a message. */
  get torn(): boolean {
    return this.have > 0;
  }

  private lengthOf(bytes: Buffer): number {
    if (bytes[0] !== 0) throw new CallError(Status.unimplemented, 'Compressed messages are not supported.');
    const length = bytes.readUInt32BE(1);
    if (length > this.limit) {
      throw new CallError(Status.resourceExhausted, `A message may have at most ${this.limit} bytes.`);
    }
    return length;
  }
}
