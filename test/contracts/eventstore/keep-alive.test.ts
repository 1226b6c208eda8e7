import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { listen, type Listener } from '../../../src/infrastructure/embedded/eventstore/grpc/listener.js';
import { until } from '../../support/until.js';

/** How an HTTP/2 client begins: the preface, and settings that change nothing. */
const GREETING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from('000000040000000000', 'hex'),
]);

describe('a connection to the embedded event store', () => {
  let listener: Listener;
  beforeEach(async () => {
    listener = await listen({
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
      serve: () => undefined,
      onFault: () => undefined,
      keepAlive: { every: 20, within: 1500 },
    });
  });
  afterEach(() => listener.stop());

  it('is cut when its other end no longer answers', async () => {
    await silentUntilCut(listener.port);
  });

  it('is kept as long as its other end answers, even if nothing is asked', async () => {
    const session = connectHttp2(`http://127.0.0.1:${listener.port}`);
    let pings = 0;
    session.on('ping', () => (pings += 1));
    await silentUntilCut(listener.port);
    await until(async () => pings > 10 || undefined);
    expect(session.closed).toBe(false);
    session.close();
  });
});

/** Greets, then says nothing more. Resolves when the server has had enough of that. */
const silentUntilCut = (port: number): Promise<unknown> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(GREETING));
    socket.on('error', () => undefined); // followed by close
    socket.once('close', resolve);
    socket.resume();
  });
