import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Engine } from '../../../src/infrastructure/embedded/eventstore/engine/engine.js';
import { Call } from '../../../src/infrastructure/embedded/eventstore/grpc/call.js';
import { routes } from '../../../src/infrastructure/embedded/eventstore/service/routes.js';
import { memoryStore } from '../../../src/infrastructure/embedded/eventstore/store/memory.js';

/** An event store of which a test sees the inside: its engine, and the server's ends of its calls. */
export interface RawServer {
  readonly engine: Engine;
  readonly port: number;
  readonly streams: readonly ServerHttp2Stream[];
  /** Lets no commit reach the disk until `release`. */
  holdCommits(): void;
  releaseCommits(): void;
  stop(): Promise<void>;
}

export async function startRawServer(): Promise<RawServer> {
  const store = memoryStore();
  let held: Promise<void> = Promise.resolve();
  let release: () => void = () => undefined;
  const engine = new Engine({ ...store, persist: (events) => held.then(() => store.persist(events)) }, () => undefined);
  await engine.start();
  const serve = routes({ engine, host: '127.0.0.1', port: () => 0, authenticate: () => undefined });
  const streams: ServerHttp2Stream[] = [];
  const sessions: ServerHttp2Session[] = [];
  const server = createServer();
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    streams.push(stream);
    const call = new Call(stream, headers[':path'] ?? '', headers, () => undefined);
    call.guard(() => serve(call));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    engine,
    port: (server.address() as AddressInfo).port, // it listens on TCP
    streams,
    holdCommits() {
      held = new Promise((resolve) => (release = resolve));
    },
    releaseCommits: () => release(),
    async stop() {
      release();
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
      await engine.stop();
    },
  };
}
