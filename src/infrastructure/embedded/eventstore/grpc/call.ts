import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { FrameReader, frame } from './frames.js';
import { CallError, Status, type StatusCode } from './status.js';

/** With so much on its way a call is full, and it has room again once it is down to the second. */
const FULL_BYTES = 32 * 1024;
const ROOM_BYTES = 8 * 1024;

const RESPONSE_HEADERS = { ':status': 200, 'content-type': 'application/grpc+proto' };

/** What a service does with the messages of a call. */
export interface Receiver {
  onMessage(message: Buffer): void;
  /** The client has sent its last message. */
  onEnd?(): void;
}

/** One gRPC call on the server's side. */
export class Call {
  private readonly closeHandlers: (() => void)[] = [];
  private finished = false;
  /** Bytes that were written and have not left. */
  private leaving = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly stream: ServerHttp2Stream,
    readonly path: string,
    readonly headers: IncomingHttpHeaders,
    private readonly onFault: (fault: unknown, path: string) => void,
  ) {
    stream.on('error', () => undefined); // a reset by the peer; 'close' follows and is what matters
    stream.on('close', () => {
      this.finished = true;
      this.makeRoom();
      for (const handler of this.closeHandlers.splice(0)) handler();
    });
  }

  /** False once a status was sent or the peer is gone. */
  get open(): boolean {
    return !this.finished && !this.stream.destroyed;
  }

  /** Milliseconds that the client gives this call, from now. */
  get timeout(): number | undefined {
    const match = /^(\d{1,8})([HMSmun])$/.exec(String(this.headers['grpc-timeout'] ?? ''));
    if (!match) return undefined;
    return Number(match[1]) * ({ H: 3.6e6, M: 6e4, S: 1e3, m: 1, u: 1e-3, n: 1e-6 }[match[2] ?? 'm'] ?? 1);
  }

  onClose(handler: () => void): void {
    if (this.stream.closed) handler();
    else this.closeHandlers.push(handler);
  }

  /** Hands over messages as they arrive. A fault in the receiver ends the call. */
  receive(receiver: Receiver, limit: number): void {
    const frames = new FrameReader(limit, (message) => {
      if (this.open) receiver.onMessage(message);
    });
    this.stream.on('data', (chunk: Buffer) => this.guard(() => frames.push(chunk)));
    this.stream.on('end', () =>
      this.guard(() => {
        if (frames.torn) throw new CallError(Status.internal, 'The last message was cut short.');
        if (this.open) receiver.onEnd?.(); // of a call that was refused, the rest must not look like all of it
      }),
    );
  }

  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  /** Sends the response headers now rather than with the first message. */
  accept(): void {
    if (!this.stream.headersSent && this.open) this.stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
  }

  /**
   * Sends framed messages; false means that the peer is slow and {@link room} should be awaited. Only little is on its way
   * at a time, but it never runs out while the next is made: a peer opens its window as it comes to the end of what it got.
   */
  write(frames: Buffer): boolean {
    if (!this.open) return true;
    this.accept();
    this.leaving += frames.length;
    this.stream.write(frames, () => {
      this.leaving -= frames.length;
      if (this.leaving <= ROOM_BYTES) this.makeRoom();
    });
    return this.leaving < FULL_BYTES;
  }

  /** Resolves when more can be written, or when the call is over. */
  async room(): Promise<void> {
    if (!this.open || this.leaving <= ROOM_BYTES) return;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private makeRoom(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Sends the one message of a unary answer, and OK. */
  reply(message: Buffer): void {
    this.write(frame(message));
    this.finish();
  }

  /** Ends the call. Only the first end counts. */
  finish(code: StatusCode = Status.ok, message = '', trailers: Readonly<Record<string, string>> = {}): void {
    if (!this.open) return;
    this.finished = true;
    const status = { 'grpc-status': String(code), 'grpc-message': percentEncoded(message), ...encodedValues(trailers) };
    if (!this.stream.headersSent) {
      this.stream.respond({ ...RESPONSE_HEADERS, ...status }, { endStream: true });
      this.hangUp();
      return;
    }
    this.stream.once('wantTrailers', () => {
      this.stream.sendTrailers(status);
      this.hangUp();
    });
    this.stream.end();
  }

  /** Ends the call with what a thrown value says; anything but a {@link CallError} is a fault of this server. */
  fail(thrown: unknown): void {
    if (thrown instanceof CallError) return this.finish(thrown.code, thrown.message, thrown.trailers);
    this.onFault(thrown, this.path);
    this.finish(Status.unknown, 'The server met a fault of its own.');
  }

  /** Runs part of a service; what it throws ends the call. */
  guard(run: () => void): void {
    try {
      run();
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** A client that has not finished sending must learn that nobody listens any more. */
  private hangUp(): void {
    if (!this.stream.readableEnded) this.stream.resume();
    setImmediate(() => {
      if (!this.stream.destroyed && !this.stream.readableEnded) this.stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }
}

/** Everything but printable ASCII, and the percent sign, as %XX of its UTF-8 bytes. */
function percentEncoded(text: string): string {
  return text.replace(/[^ -$&-~]+/gu, (run) =>
    Array.from(Buffer.from(run), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

const encodedValues = (trailers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(trailers).map(([name, value]) => [name, percentEncoded(value)]));
