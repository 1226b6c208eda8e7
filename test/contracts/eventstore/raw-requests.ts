import { randomUUID } from 'node:crypto';
import { Empty, StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import { AppendReq, ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { framed } from './raw-call.js';

/* Requests as bytes on the wire, for calls that no well-behaved client makes. */

export const APPEND = '/event_store.client.streams.Streams/Append';
export const READ = '/event_store.client.streams.Streams/Read';

interface Serializable {
  serializeBinary(): Uint8Array;
}

const onWire = (request: Serializable): Buffer => framed(Buffer.from(request.serializeBinary()));

const named = (stream: string): StreamIdentifier =>
  new StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'));

/** The first message of a classic append. */
export const appendTo = (stream: string): Buffer =>
  onWire(
    new AppendReq().setOptions(new AppendReq.Options().setStreamIdentifier(named(stream)).setNoStream(new Empty())),
  );

/** One event of a classic append. */
export function proposed(type: string, data: Buffer): Buffer {
  const message = new AppendReq.ProposedMessage().setId(new UUID().setString(randomUUID())).setData(data);
  message.getMetadataMap().set('type', type).set('content-type', 'application/octet-stream');
  return onWire(new AppendReq().setProposedMessage(message));
}

/** A subscription to a stream from its start. */
export const subscriptionTo = (stream: string): Buffer =>
  onWire(
    new ReadReq().setOptions(
      new ReadReq.Options()
        .setStream(new ReadReq.Options.StreamOptions().setStreamIdentifier(named(stream)).setStart(new Empty()))
        .setSubscription(new ReadReq.Options.SubscriptionOptions())
        .setUuidOption(new ReadReq.Options.UUIDOption().setString(new Empty())),
    ),
  );
