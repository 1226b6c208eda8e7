import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that fails on demand. Faults apply to the connections that are open and to those that come. */
export interface TcpProxy {
  readonly port: number;
  /** Back to normal; what a black hole or a delay held back goes on its way. */
  pass(): void;
  /** Every piece of data arrives this many milliseconds later. */
  delay(ms: number): void;
  /** Connections are accepted and stay open, but nothing moves any more. */
  blackHole(): void;
  /** Breaks every open connection. */
  reset(): void;
  /** Breaks every open connection, and every new one at once, until `pass`. */
  refuse(): void;
  /** Lets requests through; breaks the connection in place of the next reply. */
  loseNextReply(): void;
  /** Breaks a connection once this many bytes more have gone to the client. */
  cutAfter(bytes: number): void;
  /** Breaks every open connection; those that come lead to another server. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Starts a proxy on a free loopback port. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let targetPort = target.port;
  let held = false;
  let refusing = false;
  let delayMs = 0;
  let repliesLeft = Infinity;

  const end = (pair: Pair) => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.server.resetAndDestroy();
  };
  const endAll = () => pairs.forEach(end);
  const hold = (isHeld: boolean) => {
    held = isHeld;
    for (const { client, server } of pairs)
      for (const socket of [client, server]) socket[isHeld ? 'pause' : 'resume']();
  };
  // Whatever becomes of the delay meanwhile, nothing overtakes what was sent before it over the same connection.
  const delayed = new WeakMap<Socket, { readonly data: Buffer; readonly at: number }[]>();
  const forward = (pair: Pair, to: Socket, data: Buffer) => {
    const queue = delayed.get(to) ?? [];
    if (delayMs === 0 && queue.length === 0) return void to.write(data);
    delayed.set(to, queue);
    if (queue.push({ data, at: performance.now() + delayMs }) === 1) deliver(pair, to, queue);
  };
  const deliver = (pair: Pair, to: Socket, queue: { readonly data: Buffer; readonly at: number }[]) => {
    const [next] = queue;
    if (!next) return;
    const send = () => {
      if (!pairs.has(pair)) return;
      queue.shift();
      to.write(next.data);
      deliver(pair, to, queue);
    };
    setTimeout(send, Math.max(0, next.at - performance.now()));
  };

  const listener = createServer((client) => {
    client.on('error', () => undefined); // Followed by close.
    if (refusing) return void client.resetAndDestroy();
    const server = connect(targetPort, target.host);
    const pair = { client, server };
    pairs.add(pair);
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.on('data', (data) => forward(pair, server, data));
    server.on('data', (data) => {
      repliesLeft -= data.length;
      if (repliesLeft >= 0) return forward(pair, client, data);
      repliesLeft = Infinity;
      end(pair);
    });
    server.on('error', () => undefined); // Followed by close.
    client.on('close', () => end(pair));
    server.on('close', () => end(pair));
    if (held) for (const socket of [client, server]) socket.pause();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));

  return {
    port: (listener.address() as AddressInfo).port, // Listening on TCP.
    pass() {
      refusing = false;
      delayMs = 0;
      repliesLeft = Infinity;
      hold(false);
    },
    delay(ms) {
      delayMs = ms;
    },
    blackHole: () => hold(true),
    reset: endAll,
    refuse() {
      refusing = true;
      endAll();
    },
    loseNextReply() {
      repliesLeft = 0;
    },
    cutAfter(bytes) {
      repliesLeft = bytes;
    },
    leadTo(port) {
      targetPort = port;
      endAll();
    },
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve));
      endAll();
      await closed;
    },
  };
}
