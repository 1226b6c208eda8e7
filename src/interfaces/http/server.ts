import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuse } from '../../domain/kernel/refusal.js';
import { errorObject } from '../statuses.js';
import { httpApp, type HttpNeeds } from './app.js';
import { messagesOf } from './express-messages.js';
import { maxHeaderBytes } from './limits.js';

export interface HttpServer {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Takes no more work, lets what runs finish for at most `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

const limits = {
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  // Otherwise the first of two Authorization headers counts and the second is forgotten.
  joinDuplicateHeaders: true,
};

/** Serves the doors. Port 0 takes a free one. Fails when the port is taken, with the system's error. */
export async function startHttpServer(
  needs: HttpNeeds,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HttpServer> {
  const ending = new AbortController();
  const app = httpApp(needs, ending.signal);
  const server = createServer({ ...limits, ...messagesOf(app) }, app);
  server.on('clientError', refuseBroken);
  await listening(server, host, port);
  // A server that listens on a port has an address of this form.
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    port: address.port,
    close(graceMs) {
      ending.abort();
      return closed(server, graceMs);
    },
  };
}

const listening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

const closed = (server: Server, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection whose last answer has just gone is idle and would hold the server open until its keep-alive ends.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(idle);
      resolve();
    });
  });

/** Answers what is not HTTP, has endless headers or never ends. The parser's error holds raw bytes and is dropped. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const correlationId = randomUUID();
  const body = JSON.stringify({
    error: errorObject(refuse('validation_failed', messageOf(error.code))),
    correlationId,
  });
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Correlation-Id: ${correlationId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function messageOf(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return `The request line and headers take more than ${maxHeaderBytes} bytes.`;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.';
  return 'This is not an HTTP request.';
}
