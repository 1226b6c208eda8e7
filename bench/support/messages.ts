import type { ServiceDefinition } from '@grpc/grpc-js';
import { AllStreamPosition, StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  ReadReq,
  ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent, StoredEvent } from '../../src/infrastructure/embedded/eventstore/engine/events.js';
import type { Expectation, Outcome } from '../../src/infrastructure/embedded/eventstore/engine/expectation.js';
import { built } from './built.js';

export interface Target {
  readonly stream: string;
  readonly expected: Expectation;
}

type Written = Outcome & { readonly kind: 'written' };

/** What a server of the event store reads and writes, and in which form. */
export interface Messages<Request, Response> {
  readonly service: ServiceDefinition;
  readAppend(request: Request): { readonly target: Target } | { readonly event: ProposedEvent };
  appendAnswer(outcome: Written): Response;
  readBatch(request: Request): {
    readonly target: Target;
    readonly events: readonly ProposedEvent[];
    readonly answer: (outcome: Written) => Response;
  };
  /** Without a stream it is a subscription to all from the end on. */
  readRead(request: Request): {
    readonly stream: string | undefined;
    readonly backwards: boolean;
    readonly count: number;
  };
  event(event: StoredEvent): Response;
  confirmation(): Response;
}

type GeneratedRequest = AppendReq | BatchAppendReq | ReadReq;
type GeneratedResponse = AppendResp | BatchAppendResp | ReadResp;

/** The classes that come with the official client. */
export const generatedMessages: Messages<GeneratedRequest, GeneratedResponse> = {
  service: StreamsService,
  readAppend(request) {
    if (!(request instanceof AppendReq)) throw new Error('not an append');
    const message = request.getProposedMessage();
    return message ? { event: proposed(message) } : { target: targetOf(request.getOptions()) };
  },
  appendAnswer: ({ revision, position }) =>
    new AppendResp().setSuccess(
      new AppendResp.Success()
        .setCurrentRevision(String(revision))
        .setPosition(
          new AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
        ),
    ),
  readBatch(request) {
    if (!(request instanceof BatchAppendReq)) throw new Error('not a batch');
    const options = request.getOptions();
    return {
      target: targetOf(options),
      events: request.getProposedMessagesList().map(proposed),
      answer: ({ revision, position }) =>
        new BatchAppendResp()
          .setCorrelationId(request.getCorrelationId())
          .setStreamIdentifier(options?.getStreamIdentifier())
          .setAny(options?.getAny())
          .setSuccess(
            new BatchAppendResp.Success()
              .setCurrentRevision(String(revision))
              .setPosition(
                new AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
              ),
          ),
    };
  },
  readRead(request) {
    if (!(request instanceof ReadReq)) throw new Error('not a read');
    const options = request.getOptions();
    return {
      stream: options?.hasStream() ? nameOf(options.getStream()?.getStreamIdentifier()) : undefined,
      backwards: options?.getReadDirection() === ReadReq.Options.ReadDirection.BACKWARDS,
      count: Number(options?.getCount()),
    };
  },
  event(event) {
    const position = String(event.position);
    const recorded = new ReadResp.ReadEvent.RecordedEvent()
      .setId(new UUID().setString(textOf(event.id)))
      .setStreamIdentifier(new StreamIdentifier().setStreamName(Buffer.from(event.stream)))
      .setStreamRevision(String(event.revision))
      .setPreparePosition(position)
      .setCommitPosition(position)
      .setCustomMetadata(event.metadata)
      .setData(event.data);
    recorded
      .getMetadataMap()
      .set('type', event.type)
      .set('content-type', event.json ? 'application/json' : 'application/octet-stream')
      .set('created', `${event.created}0000`);
    return new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position));
  },
  confirmation: () =>
    new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId('benchmark')),
};

type Proposed = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;

function proposed(message: Proposed): ProposedEvent {
  const properties = message.getMetadataMap();
  return {
    id: built('protocol/uuid').idFromText(message.getId()?.getString() ?? ''),
    type: properties.get('type') ?? '',
    json: properties.get('content-type') === 'application/json',
    data: bytesOf(message.getData_asU8()),
    metadata: bytesOf(message.getCustomMetadata_asU8()),
  };
}

function targetOf(options: AppendReq.Options | BatchAppendReq.Options | undefined): Target {
  if (!options?.hasAny()) throw new Error('The benchmark expects any revision.');
  return { stream: nameOf(options.getStreamIdentifier()), expected: 'any' };
}

const nameOf = (identifier: StreamIdentifier | undefined): string =>
  bytesOf(identifier?.getStreamName_asU8() ?? new Uint8Array()).toString();

const bytesOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

function textOf(id: string): string {
  const hex = Buffer.from(id, 'latin1').toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The product's own readers and writers, as functions that a server of grpc-js takes bytes to and from. */
export function ownMessages(): Messages<Buffer, Buffer> {
  const { appendAnswer, readAppendMessage } = built('protocol/append');
  const { batchAnswer, readBatchChunk } = built('protocol/batch-append');
  const { readReadRequest } = built('protocol/read-request');
  const { confirmationFrame, eventFrame } = built('protocol/read-response');
  return {
    service: bytesOnly(StreamsService),
    readAppend: readAppendMessage,
    appendAnswer,
    readBatch(request) {
      const { correlation, options, events } = readBatchChunk(request, Date.now());
      if (!options) throw new Error('The benchmark sends appends whole.');
      return { target: options, events, answer: (outcome) => batchAnswer(correlation, options, outcome) };
    },
    readRead(request) {
      const { stream, backwards, count = 0 } = readReadRequest(request);
      return { stream, backwards, count };
    },
    event: (event) => withoutFrame(eventFrame({ event, link: undefined }, 'string')),
    confirmation: () => withoutFrame(confirmationFrame('benchmark')),
  };
}

const withoutFrame = (frame: Buffer): Buffer => frame.subarray(5);

/** The same calls, with bytes for messages. */
const bytesOnly = (service: ServiceDefinition): ServiceDefinition =>
  Object.fromEntries(
    Object.entries(service).map(([name, { path, requestStream, responseStream }]) => [
      name,
      {
        path,
        requestStream,
        responseStream,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    ]),
  );

const same = (bytes: Buffer): Buffer => bytes;
