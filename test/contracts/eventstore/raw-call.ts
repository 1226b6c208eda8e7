import { once } from 'node:events';
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';

export interface RawAnswer {
  readonly status: number;
  readonly message: string;
  readonly trailers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Calls a method with bytes of one's own choosing, in pieces if need be, as no well-behaved client would. */
export async function rawCall(
  port: number,
  path: string,
  bytes: Buffer | readonly Buffer[],
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    await once(session, 'connect'); // what is written before goes as one piece
    return await callOn(session, path, [bytes].flat(), headers);
  } finally {
    session.close();
  }
}

function callOn(
  session: ClientHttp2Session,
  path: string,
  pieces: readonly Buffer[],
  headers: Record<string, string>,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    const chunks: Buffer[] = [];
    let trailers: IncomingHttpHeaders = {};
    stream.on('response', (response) => (trailers = response));
    stream.on('trailers', (received: IncomingHttpHeaders) => (trailers = received));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () =>
      resolve({
        status: Number(trailers['grpc-status'] ?? -1),
        message: decodeURIComponent(String(trailers['grpc-message'] ?? '')),
        trailers,
        bytes: Buffer.concat(chunks),
      }),
    );
    for (const piece of pieces) stream.write(piece);
    stream.end();
  });
}

/** A message behind the five bytes that gRPC puts before each. */
export function framed(message: Buffer, flag = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
