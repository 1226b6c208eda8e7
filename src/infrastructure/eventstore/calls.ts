import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { readBatchAnswer, type BatchAnswer } from './batch-wire.js';
import { internalsOf, type Connection } from './connection.js';
import { readAnswer, type ReadAnswer } from './read-wire.js';

/** What is used of a call. A message that cannot be understood ends it with an error, as a broken line does. */
export interface IncomingCall<Message> {
  on(event: 'data', listener: (message: Message) => void): this;
  on(event: 'error', listener: (failure: Error) => void): this;
  on(event: 'end', listener: () => void): this;
  pause(): this;
  resume(): this;
  cancel(): void;
}

export interface DuplexCall<Message> extends IncomingCall<Message> {
  write(message: Buffer): boolean;
}

const service = '/event_store.client.streams.Streams/';
const asIs = (bytes: Buffer): Buffer => bytes;

/** Opens a Read with a request that is written already. */
export async function openRead(connection: Connection, request: Buffer): Promise<IncomingCall<ReadAnswer>> {
  const client = internalsOf(await connection.client());
  return client.GRPCStreamCreator(StreamsClient, 'read', (stub) =>
    stub.makeServerStreamRequest(
      `${service}Read`,
      asIs,
      readAnswer,
      request,
      ...client.callArguments({}, { deadline: Infinity }),
    ),
  )();
}

export async function openBatchAppend(connection: Connection): Promise<DuplexCall<BatchAnswer>> {
  const client = internalsOf(await connection.client());
  return client.GRPCStreamCreator(StreamsClient, 'batchAppend', (stub) =>
    stub.makeBidiStreamRequest(
      `${service}BatchAppend`,
      asIs,
      readBatchAnswer,
      ...client.callArguments({}, { deadline: Infinity }),
    ),
  )();
}
