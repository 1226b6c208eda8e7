import { once } from 'node:events';
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { SupportedMethod, SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Engine } from '../../src/infrastructure/embedded/eventstore/engine/engine.js';
import type { ProposedEvent, StoredEvent } from '../../src/infrastructure/embedded/eventstore/engine/events.js';
import type { Outcome } from '../../src/infrastructure/embedded/eventstore/engine/expectation.js';
import { built } from './built.js';
import type { Messages, Target } from './messages.js';

/**
 * The embedded event store's engine behind the server of `@grpc/grpc-js`: appends of one message, reads of a stream and
 * subscriptions to all, as far as the benchmark calls them. It does less than the product's own listener, which bounds
 * what it takes in, assembles appends of several messages and follows links.
 */
export async function serveWithGrpcJs<Request, Response>(messages: Messages<Request, Response>): Promise<number> {
  const engine = new (built('engine/engine').Engine)(built('store/memory').memoryStore(), () => undefined);
  await engine.start();
  const server = new Server({
    'grpc.max_receive_message_length': 17 * 1024 * 1024,
    'grpc-node.flow_control_window': 1024 * 1024,
  });
  server.addService(ServerFeaturesService, {
    getSupportedMethods: (_: unknown, callback: sendUnaryData<SupportedMethods>) => callback(null, supported()),
  });
  const handlers = new Handlers(engine, messages);
  server.addService(messages.service, {
    append: (call: ServerReadableStream<Request, Response>, callback: sendUnaryData<Response>) =>
      handlers.append(call, callback),
    batchAppend: (call: ServerDuplexStream<Request, Response>) => handlers.batchAppend(call),
    read: (call: ServerWritableStream<Request, Response>) => void handlers.read(call),
  });
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (fault, port) =>
      fault ? reject(fault) : resolve(port),
    );
  });
}

const supported = (): SupportedMethods =>
  new SupportedMethods()
    .setEventStoreServerVersion('24.10.0')
    .setMethodsList(
      ['append', 'batchappend', 'read'].map((name) =>
        new SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
      ),
    );

class Handlers<Request, Response> {
  constructor(
    private readonly engine: Engine,
    private readonly messages: Messages<Request, Response>,
  ) {}

  append(call: ServerReadableStream<Request, Response>, callback: sendUnaryData<Response>): void {
    let target: Target | undefined;
    const events: ProposedEvent[] = [];
    call.on('data', (request: Request) => {
      const part = this.messages.readAppend(request);
      if ('target' in part) target = part.target;
      else events.push(part.event);
    });
    call.on('end', () => {
      if (target) this.submit(target, events, (outcome) => callback(null, this.messages.appendAnswer(outcome)));
    });
  }

  batchAppend(call: ServerDuplexStream<Request, Response>): void {
    call.on('data', (request: Request) => {
      const { target, events, answer } = this.messages.readBatch(request);
      this.submit(target, events, (outcome) => call.write(answer(outcome)));
    });
    call.on('end', () => call.end());
  }

  async read(call: ServerWritableStream<Request, Response>): Promise<void> {
    const { stream, backwards, count } = this.messages.readRead(call.request);
    if (stream === undefined) return this.follow(call);
    const view = await this.engine.reader.view(stream);
    const range = { from: backwards ? view.last : 0, backwards, limit: count };
    for await (const page of this.engine.reader.pages(stream, view, range)) await this.send(call, page);
    call.end();
  }

  /** Follows all events from the end on. */
  private async follow(call: ServerWritableStream<Request, Response>): Promise<void> {
    let cursor = this.engine.watermark;
    let wake: () => void = () => undefined;
    call.on(
      'cancelled',
      this.engine.watchers.add(undefined, () => wake()),
    );
    call.write(this.messages.confirmation());
    while (!call.cancelled) {
      const recent = this.engine.recent.after(cursor) ?? [];
      cursor = recent.at(-1)?.position ?? cursor;
      if (recent.length > 0) await this.send(call, recent);
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  private async send(call: ServerWritableStream<Request, Response>, events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) if (!call.write(this.messages.event(event))) await once(call, 'drain');
  }

  private submit(
    { stream, expected }: Target,
    events: readonly ProposedEvent[],
    answer: (outcome: Outcome & { kind: 'written' }) => void,
  ): void {
    this.engine.submit({ kind: 'append', stream, expected, events }, undefined, (outcome) => {
      if (outcome.kind !== 'written') throw new Error(`The benchmark's append ended as ${outcome.kind}.`);
      answer(outcome);
    });
  }
}
