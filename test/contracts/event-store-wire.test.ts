import { AllStreamPosition, StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import { Status } from '@eventstore/db-client/generated/status_pb.js';
import { BatchAppendReq, BatchAppendResp, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { WireWriter } from '../../src/infrastructure/protobuf/wire.js';
import { WireReader } from '../../src/infrastructure/protobuf/wire.js';
import { batchRequest, readBatchAnswer } from '../../src/infrastructure/eventstore/batch-wire.js';
import type { IncomingCall } from '../../src/infrastructure/eventstore/calls.js';
import { SubscriptionBuffer } from '../../src/infrastructure/eventstore/subscription-buffer.js';
import {
  readAnswer,
  readRequest,
  subscribeRequest,
  type ReadAnswer,
} from '../../src/infrastructure/eventstore/read-wire.js';
import { newEvent } from './event-store-contract.js';

const correlationId = '0f8fad5b-d9cb-469f-a165-00000000002a';
const bytesOf = (message: { serializeBinary(): Uint8Array }) => Buffer.from(message.serializeBinary());

/** The deadline as a span (field 7 of the options), which the client's own messages do not know. */
function spanOf(bytes: Buffer): { readonly seconds: number; readonly nanos: number } | undefined {
  const options = fieldOf(new WireReader(bytes), 2);
  const span = options && fieldOf(options, 7);
  if (!span) return undefined;
  const found = { seconds: 0, nanos: 0 };
  while (span.next()) {
    if (span.field === 1) found.seconds = span.number();
    else if (span.field === 2) found.nanos = span.number();
    else span.skip();
  }
  return found;
}

function fieldOf(message: WireReader, field: number): WireReader | undefined {
  while (message.next()) {
    if (message.field === field) return message.message();
    message.skip();
  }
  return undefined;
}

describe('a hand-written append', () => {
  it.each([
    ['none', 'none' as const],
    ['any', 'any' as const],
    ['a revision', 7],
    ['revision 0', 0],
  ])('reads the same with the official messages, expecting %s', (_, expected) => {
    const event = newEvent('thing.happened', { text: 'Grüße 🎉' });
    const bytes = batchRequest(correlationId, 'thing-ü', expected, [event, newEvent()], 2_250);
    const request = BatchAppendReq.deserializeBinary(bytes);
    const options = request.getOptions();
    expect(request.getCorrelationId()?.getString()).toBe(correlationId);
    expect(request.getIsFinal()).toBe(true);
    expect(Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()).toBe('thing-ü');
    expect(options?.hasNoStream()).toBe(expected === 'none');
    expect(options?.hasAny()).toBe(expected === 'any');
    expect(options?.hasStreamPosition()).toBe(typeof expected === 'number');
    if (typeof expected === 'number') expect(options?.getStreamPosition()).toBe(String(expected));
    expect(options?.hasDeadline()).toBe(false);
    expect(spanOf(bytes)).toEqual({ seconds: 2, nanos: 250_000_000 });
    const [message, ...others] = request.getProposedMessagesList();
    expect(others).toHaveLength(1);
    expect(message?.getId()?.getString()).toBe(event.id);
    expect(message?.getMetadataMap().get('type')).toBe('thing.happened');
    expect(message?.getMetadataMap().get('content-type')).toBe('application/json');
    expect(JSON.parse(Buffer.from(message?.getData_asU8() ?? []).toString())).toEqual(event.data);
    expect(JSON.parse(Buffer.from(message?.getCustomMetadata_asU8() ?? []).toString())).toEqual(event.metadata);
  });

  const uuid = () => {
    const id = new UUID();
    id.setString(correlationId);
    return id;
  };
  const structured = () => {
    const halves = new UUID.Structured();
    halves.setMostSignificantBits('1121313485938476703');
    // The last sixteen digits of the uuid, as the signed number that the structured form carries.
    halves.setLeastSignificantBits(BigInt.asIntN(64, 0xa165_0000_0000_002an).toString());
    const id = new UUID();
    id.setStructured(halves);
    return id;
  };

  it.each([
    ['string', uuid],
    ['structured', structured],
  ])('understands success with a %s id', (_, id) => {
    const success = new BatchAppendResp.Success();
    success.setCurrentRevision('41');
    const at = new AllStreamPosition();
    at.setCommitPosition('1234');
    success.setPosition(at);
    const response = new BatchAppendResp();
    response.setCorrelationId(id());
    response.setSuccess(success);
    expect(readBatchAnswer(bytesOf(response))).toEqual({ number: 42, written: { revision: 41, position: 1234n } });
  });

  it('understands a refusal', () => {
    const type = 'type.googleapis.com/event_store.client.WrongExpectedVersion';
    const status = Status.deserializeBinary(
      new WireWriter()
        .number(1, 9)
        .message(3, (detail) => detail.string(1, type).empty(2))
        .finish(),
    );
    expect(status.getDetails()?.getTypeName()).toBe('event_store.client.WrongExpectedVersion');
    const response = new BatchAppendResp();
    response.setCorrelationId(uuid());
    response.setError(status);
    expect(readBatchAnswer(bytesOf(response))).toEqual({ number: 42, failure: 'WrongExpectedVersion' });
  });
});

describe('a hand-written read', () => {
  it('reads the same with the official messages', () => {
    const stream = ReadReq.deserializeBinary(readRequest({ stream: 'thing-1', from: 5 }, 9, 'forwards')).getOptions();
    expect(stream?.getStream()?.getRevision()).toBe('5');
    expect(Buffer.from(stream?.getStream()?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()).toBe(
      'thing-1',
    );
    expect(stream?.getCount()).toBe('9');
    expect(stream?.getReadDirection()).toBe(ReadReq.Options.ReadDirection.FORWARDS);
    expect(stream?.hasNoFilter()).toBe(true);
    expect(stream?.getUuidOption()?.hasString()).toBe(true);
    const last = ReadReq.deserializeBinary(
      readRequest({ stream: 'thing-1', from: 'end' }, 1, 'backwards'),
    ).getOptions();
    expect(last?.getStream()?.hasEnd()).toBe(true);
    expect(last?.getReadDirection()).toBe(ReadReq.Options.ReadDirection.BACKWARDS);
    const all = ReadReq.deserializeBinary(readRequest({ from: 2n ** 53n + 1n }, 3, 'forwards')).getOptions();
    expect(all?.getAll()?.getPosition()?.toObject()).toEqual({
      commitPosition: '9007199254740993',
      preparePosition: '9007199254740993',
    });
  });

  it('asks a subscription to leave the store’s own events out', () => {
    const options = ReadReq.deserializeBinary(subscribeRequest('start', 32)).getOptions();
    expect(options?.getAll()?.hasStart()).toBe(true);
    expect(options?.hasSubscription()).toBe(true);
    expect(options?.getFilter()?.getEventType()?.getRegex()).toBe('^[^$].*');
    expect(options?.getFilter()?.hasCount()).toBe(true);
    expect(options?.getFilter()?.getCheckpointintervalmultiplier()).toBe(32);
  });

  it('understands an event', () => {
    expect(readAnswer(eventMessage({ type: 'thing.happened', data: '{"a":1}' }))).toEqual({
      kind: 'event',
      position: 9007199254740993n,
      event: {
        id: correlationId,
        type: 'thing.happened',
        data: { a: 1 },
        metadata: { ownerId: 'user_1' },
        stream: 'thing-1',
        revision: 3,
        position: 9007199254740993n,
      },
    });
  });

  it('keeps an event that is not JSON, whoever wrote it', () => {
    const { event } = readAnswer(eventMessage({ type: 'foreign', data: 'not json' }));
    expect(event?.data).toEqual({ $bytes: Buffer.from('not json').toString('base64') });
  });

  it('leaves the store’s own events out, and knows where they stand', () => {
    expect(readAnswer(eventMessage({ type: '$metadata', data: '{}' }))).toEqual({
      kind: 'event',
      position: 9007199254740993n,
    });
  });

  it('understands what a subscription says between events', () => {
    const checkpoint = new ReadResp.Checkpoint();
    checkpoint.setCommitPosition('77');
    const [confirmed, marked, caughtUp, missing] = [new ReadResp(), new ReadResp(), new ReadResp(), new ReadResp()];
    confirmed.setConfirmation(new ReadResp.SubscriptionConfirmation());
    marked.setCheckpoint(checkpoint);
    caughtUp.setCaughtUp(new ReadResp.CaughtUp());
    missing.setStreamNotFound(new ReadResp.StreamNotFound());
    expect([confirmed, marked, caughtUp, missing].map((response) => readAnswer(bytesOf(response)))).toEqual([
      { kind: 'confirmation' },
      { kind: 'checkpoint', position: 77n },
      { kind: 'caught up' },
      { kind: 'no stream' },
    ]);
  });
});

describe('a subscription whose listener is slow', () => {
  it('holds the server back when a batch is waiting, and lets it go on when the batch is taken', () => {
    const call = new FakeCall();
    const live = new SubscriptionBuffer(call, 0n, () => undefined);
    for (let count = 0; count < 500; count += 1)
      call.receive(readAnswer(eventMessage({ type: 'thing.happened', data: '{}' })));
    expect(call.isPaused).toBe(true);
    expect(live.take()).toHaveLength(500);
    expect(call.isPaused).toBe(false);
  });
});

class FakeCall implements IncomingCall<ReadAnswer> {
  isPaused = false;
  private listener: ((answer: ReadAnswer) => void) | undefined;
  on(event: string, listener: (answer: ReadAnswer & Error) => void): this {
    // What is received here is only ever an answer.
    if (event === 'data') this.listener = listener as (answer: ReadAnswer) => void;
    return this;
  }
  pause(): this {
    this.isPaused = true;
    return this;
  }
  resume(): this {
    this.isPaused = false;
    return this;
  }
  cancel(): void {
    this.listener = undefined;
  }
  receive(answer: ReadAnswer): void {
    this.listener?.(answer);
  }
}

function eventMessage({ type, data }: { type: string; data: string }): Buffer {
  const id = new UUID();
  id.setString(correlationId);
  const stream = new StreamIdentifier();
  stream.setStreamName(Buffer.from('thing-1'));
  const record = new ReadResp.ReadEvent.RecordedEvent();
  record.setId(id);
  record.setStreamIdentifier(stream);
  record.setStreamRevision('3');
  record.setPreparePosition('9007199254740993');
  record.setCommitPosition('9007199254740993');
  record.getMetadataMap().set('type', type).set('content-type', 'application/json').set('created', '1');
  record.setCustomMetadata(Buffer.from('{"ownerId":"user_1"}'));
  record.setData(Buffer.from(data));
  const event = new ReadResp.ReadEvent();
  event.setEvent(record);
  const response = new ReadResp();
  response.setEvent(event);
  return bytesOf(response);
}
