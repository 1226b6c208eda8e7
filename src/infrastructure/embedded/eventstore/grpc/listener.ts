import { readFile } from 'node:fs/promises';
import {
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { Call } from './call.js';
import { answerPlain, doorOf } from './plain-http.js';
import { Status } from './status.js';

/*
 * gRPC is HTTP/2 with length-prefixed messages and a status in the trailers, and Node has HTTP/2. Speaking it directly
 * lets one encoded event be sent to every subscriber as it is, and the answers of one commit leave in one write.
 */

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Takes each call; what it throws ends the call. */
  readonly serve: (call: Call) => void;
  readonly onFault: (fault: unknown, path: string) => void;
  readonly keepAlive?: KeepAlive;
}

/** Milliseconds between pings, and within which each is answered. */
interface KeepAlive {
  readonly every: number;
  readonly within: number;
}

export interface Listener {
  readonly port: number;
  /** Ends open calls with CANCELLED, then connections; whoever does not leave within `grace` milliseconds is cut off. */
  stop(grace?: number): Promise<void>;
}

const WINDOW = 1024 * 1024;
const KEEP_ALIVE: KeepAlive = { every: 20_000, within: 20_000 };

const HTTP2 = {
  settings: { initialWindowSize: WINDOW, maxConcurrentStreams: 8192 },
  maxSessionMemory: 256, // megabytes; flow control keeps to far less unless a client has thousands of calls
};

/** Listens for gRPC calls. Rejects when the port is taken or a certificate cannot be read. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const server = await makeServer(options.tls);
  const door = options.tls ? server : doorOf(server);
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const calls = new Set<Call>();
  door.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
    session.setLocalWindowSize(16 * WINDOW);
    watchOver(session, options.keepAlive ?? KEEP_ALIVE);
  });
  server.on('stream', (stream, headers) => {
    if (!isGrpc(stream, headers)) return;
    const call = new Call(stream, headers[':path'] ?? '', headers, options.onFault);
    calls.add(call);
    call.onClose(() => calls.delete(call));
    call.guard(() => options.serve(call));
  });
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(options.port, options.host, resolve);
  });
  return {
    // A TCP server that listens has an address object, never a pipe name.
    port: (door.address() as AddressInfo).port,
    async stop(grace = 2000) {
      const closed = new Promise<void>((resolve) => door.close(() => resolve()));
      for (const call of calls) call.finish(Status.cancelled, 'The server is stopping.');
      for (const session of sessions) session.close();
      const cutOff = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, grace);
      await closed;
      clearTimeout(cutOff);
    },
  };
}

async function makeServer(tls: ListenerOptions['tls']): Promise<Http2Server> {
  if (!tls) return createServer(HTTP2);
  const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)]);
  const server = createSecureServer({ ...HTTP2, cert, key, minVersion: 'TLSv1.2', ALPNCallback: chosenOf });
  answerPlain(server);
  return server;
}

const chosenOf = ({ protocols }: { protocols: string[] }): string | undefined =>
  ['h2', 'http/1.1'].find((known) => protocols.includes(known));

/** Answers plain HTTP with a plain status; a gRPC call goes on. */
function isGrpc(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const grpc = headers[':method'] === 'POST' && headers['content-type']?.startsWith('application/grpc') === true;
  if (!grpc) stream.respond({ ':status': headers[':method'] === 'POST' ? 415 : 405 }, { endStream: true });
  return grpc;
}

/** Cuts a connection whose other end no longer answers pings. */
function watchOver(session: ServerHttp2Session, { every, within }: KeepAlive): void {
  const timer = setInterval(() => {
    if (session.destroyed || session.closed) return;
    const deadline = setTimeout(() => session.destroy(), within);
    const sent = session.ping(() => clearTimeout(deadline));
    if (!sent) clearTimeout(deadline);
  }, every);
  timer.unref();
  session.on('close', () => clearInterval(timer));
}
