import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { internalsOf, type Connection } from './connection.js';

/** What is used of a call whose messages stay bytes. */
export interface IncomingCall {
  on(event: 'data', listener: (message: Buffer) => void): this;
  on(event: 'error', listener: (failure: Error) => void): this;
  on(event: 'end', listener: () => void): this;
  pause(): this;
  resume(): this;
  cancel(): void;
}

export interface DuplexCall extends IncomingCall {
  write(message: Buffer): boolean;
}

const service = '/event_store.client.streams.Streams/';
const asIs = (bytes: Buffer): Buffer => bytes;

/** Opens a Read with a request that is written already. */
export async function openRead(connection: Connection, request: Buffer): Promise<IncomingCall> {
  const client = internalsOf(await connection.client());
  return client.GRPCStreamCreator(StreamsClient, 'read', (stub) =>
    stub.makeServerStreamRequest(
      `${service}Read`,
      asIs,
      asIs,
      request,
      ...client.callArguments({}, { deadline: Infinity }),
    ),
  )();
}

export async function openBatchAppend(connection: Connection): Promise<DuplexCall> {
  const client = internalsOf(await connection.client());
  return client.GRPCStreamCreator(StreamsClient, 'batchAppend', (stub) =>
    stub.makeBidiStreamRequest(
      `${service}BatchAppend`,
      asIs,
      asIs,
      ...client.callArguments({}, { deadline: Infinity }),
    ),
  )();
}
