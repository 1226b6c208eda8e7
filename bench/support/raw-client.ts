import { randomUUID } from 'node:crypto';
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { Empty, StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import { AppendReq, ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { batchRequest } from '../../src/infrastructure/eventstore/batch-wire.js';

const body = { text: 'x'.repeat(420) };
const metadata = { $correlationId: randomUUID() };

/** Calls an event store with messages that were made before, and only counts what comes back: it costs little itself. */
export class RawClient {
  private readonly session: ClientHttp2Session;

  constructor(port: number) {
    this.session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 1024 * 1024 } });
  }

  /** Sends the requests over one call, so many at a time, and resolves when each has its answer. */
  batchAppend(requests: readonly Buffer[], inFlight: number): Promise<void> {
    const call = this.open('BatchAppend');
    let sent = 0;
    let answered = 0;
    const next = (): void => {
      const request = requests[sent++];
      if (request) call.write(request);
      else if (answered === requests.length) call.end();
    };
    const answers = new AnswerCounter(() => {
      answered += 1;
      next();
    });
    call.on('data', (chunk: Buffer) => answers.push(chunk));
    for (let n = 0; n < inFlight; n += 1) next();
    return ended(call);
  }

  async append(request: Buffer): Promise<void> {
    await this.unary('Append', request, 1);
  }

  async read(request: Buffer, events: number): Promise<void> {
    await this.unary('Read', request, events);
  }

  close(): void {
    this.session.close();
  }

  private async unary(method: string, request: Buffer, expected: number): Promise<void> {
    const call = this.open(method);
    let answered = 0;
    const answers = new AnswerCounter(() => (answered += 1));
    call.on('data', (chunk: Buffer) => answers.push(chunk));
    call.end(request);
    await ended(call);
    if (answered !== expected) throw new Error(`${method} was answered with ${answered} messages, not ${expected}.`);
  }

  private open(method: string): ClientHttp2Stream {
    return this.session.request({
      ':method': 'POST',
      ':path': `/event_store.client.streams.Streams/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
  }
}

function ended(call: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve, reject) => {
    let status: unknown;
    call.on('response', (headers) => (status = headers['grpc-status']));
    call.on('trailers', (trailers: IncomingHttpHeaders) => (status = trailers['grpc-status']));
    call.on('error', reject);
    call.on('close', () => (status === '0' ? resolve() : reject(new Error(`A call ended with ${String(status)}.`))));
  });
}

/** Counts messages by their lengths. */
class AnswerCounter {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly onAnswer: () => void) {}

  push(chunk: Buffer): void {
    let bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
      bytes = bytes.subarray(5 + bytes.readUInt32BE(1));
      this.onAnswer();
    }
    this.rest = bytes;
  }
}

const id = (): UUID => new UUID().setString(randomUUID());
const named = (stream: string): StreamIdentifier => new StreamIdentifier().setStreamName(Buffer.from(stream));
const onWire = (message: { serializeBinary(): Uint8Array }): Buffer => framed(Buffer.from(message.serializeBinary()));

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** One event of about 500 bytes each, to one of 200 streams or to one, as the product's adapter writes it. */
export const batchRequests = (count: number, stream?: string): Buffer[] =>
  Array.from({ length: count }, (_, n) => {
    const event = { id: randomUUID(), type: 'happened', data: body, metadata };
    return framed(batchRequest(randomUUID(), stream ?? `bench-${n % 200}`, 'any', [event], Date.now() + 60_000));
  });

/** The same as a call of its own. */
export const appendRequests = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => {
    const options = new AppendReq.Options().setStreamIdentifier(named(`bench-${n % 200}`)).setAny(new Empty());
    const message = new AppendReq.ProposedMessage().setId(id()).setData(Buffer.from(JSON.stringify(body)));
    message.getMetadataMap().set('type', 'happened').set('content-type', 'application/json');
    return Buffer.concat([
      onWire(new AppendReq().setOptions(options)),
      onWire(new AppendReq().setProposedMessage(message.setCustomMetadata(Buffer.from(JSON.stringify(metadata))))),
    ]);
  });

export function readRequest(stream: string, count: number, direction: 'FORWARDS' | 'BACKWARDS'): Buffer {
  const from = new ReadReq.Options.StreamOptions().setStreamIdentifier(named(stream));
  if (direction === 'FORWARDS') from.setStart(new Empty());
  else from.setEnd(new Empty());
  return onWire(
    new ReadReq().setOptions(
      new ReadReq.Options()
        .setStream(from)
        .setReadDirection(ReadReq.Options.ReadDirection[direction])
        .setCount(String(count))
        .setNoFilter(new Empty())
        .setUuidOption(new ReadReq.Options.UUIDOption().setString(new Empty())),
    ),
  );
}
