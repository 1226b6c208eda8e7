import { fork } from 'node:child_process';
import { connect } from 'node:http2';
import { once } from 'node:events';
import { frame } from '../../src/infrastructure/embedded/eventstore/grpc/frames.js';
import { WireWriter } from '../../src/infrastructure/protobuf/wire.js';

/**
 * Subscribers to all events that read and discard, in a process of their own: what they cost is what it takes to send
 * to them, not what it takes the official client to decode (which it does at some 40,000 events a second and core).
 */
export async function startListeners(port: number, count: number): Promise<{ bytes(): Promise<number>; stop(): void }> {
  const child = fork(__filename, [String(port), String(count)], { execArgv: ['--require', 'tsx/cjs'] });
  await once(child, 'message');
  return {
    async bytes() {
      child.send('bytes');
      const [bytes] = (await once(child, 'message')) as [number]; // the only kind of message it sends by then
      return bytes;
    },
    stop: () => void child.kill(),
  };
}

/** From the end of all events on, unfiltered, ids as text. */
const SUBSCRIBE = frame(
  new WireWriter()
    .message(1, (options) =>
      options
        .message(2, (all) => all.empty(3))
        .empty(6)
        .empty(8)
        .message(9, (uuids) => uuids.empty(2)),
    )
    .finish(),
);

function listen(port: number, count: number): void {
  let bytes = 0;
  let confirmed = 0;
  for (let n = 0; n < count; n += 1) {
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 1024 * 1024 } });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/event_store.client.streams.Streams/Read',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.end(SUBSCRIBE);
    stream.once('data', () => {
      confirmed += 1;
      if (confirmed === count) process.send?.('ready');
    });
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
  }
  process.on('message', () => process.send?.(bytes));
}

if (require.main === module) listen(Number(process.argv[2]), Number(process.argv[3]));
