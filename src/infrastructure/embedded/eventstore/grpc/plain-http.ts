import type { Http2SecureServer, Http2Server } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';

const PREFACE = Buffer.from('PRI * HTTP/2.0');
const PATIENCE = 10_000;
// The client shows people the reason phrase, so that is where the sentence goes.
const REASON = 'This event store has no HTTP API; use gRPC, and catch-up subscriptions instead of persistent ones';

/*
 * Some methods of the official client fall back to HTTP/1.1 when a server lacks a feature; they get an answer here
 * instead of bytes that they cannot read.
 */

/** Puts a door in front of a plain HTTP/2 server, which looks at how a connection begins. */
export function doorOf(server: Http2Server): Server {
  return createServer((socket) => {
    socket.setNoDelay(true);
    watch(socket);
    socket.once('readable', () => enter(server, socket));
  });
}

/** Answers on a secure server, where the handshake says what the client speaks. */
export function answerPlain(server: Http2SecureServer): void {
  server.on('unknownProtocol', (socket) => {
    watch(socket);
    socket.once('data', () => refuse(socket));
  });
}

function watch(socket: Socket): void {
  socket.setTimeout(PATIENCE, () => socket.destroy());
  socket.on('error', () => socket.destroy());
}

function enter(server: Http2Server, socket: Socket): void {
  const head = (socket.read() ?? Buffer.alloc(0)) as Buffer; // the socket has no encoding set, so it reads buffers
  const known = Math.min(head.length, PREFACE.length);
  if (known > 0 && head.subarray(0, known).equals(PREFACE.subarray(0, known))) {
    socket.setTimeout(0);
    socket.unshift(head);
    server.emit('connection', socket);
    return;
  }
  refuse(socket);
}

function refuse(socket: Socket): void {
  socket.resume(); // what else it sends is not looked at, and must not be left lying
  socket.end(`HTTP/1.1 501 ${REASON}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}
