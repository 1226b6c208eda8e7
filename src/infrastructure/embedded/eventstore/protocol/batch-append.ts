import type { ProposedEvent } from '../engine/events.js';
import type { Expectation, Outcome } from '../engine/expectation.js';
import { MAX_APPEND_BYTES } from '../engine/limits.js';
import { readProposedEvent } from './proposed-event.js';
import { streamIdentifier } from './stream-identifier.js';
import { readTargetField, type Target } from './target.js';
import { MalformedMessage, WireReader, WireWriter } from '../../../protobuf/wire.js';

export interface BatchOptions extends Target {
  /** Milliseconds since the Unix epoch after which an answer is due. */
  readonly deadline: number | undefined;
}

/** One chunk of an append: the first carries the options, the last says so. */
export interface BatchChunk {
  /** The correlation id's message as received, to be echoed byte for byte. */
  readonly correlation: Buffer;
  readonly options: BatchOptions | undefined;
  readonly events: ProposedEvent[];
  readonly last: boolean;
}

export function readBatchChunk(bytes: Buffer, now: number): BatchChunk {
  const message = new WireReader(bytes);
  let correlation: Buffer | undefined;
  let options: BatchOptions | undefined;
  let last = false;
  const events: ProposedEvent[] = [];
  while (message.next()) {
    if (message.field === 1) correlation = message.view();
    else if (message.field === 2) options = readOptions(message.message(), now);
    else if (message.field === 3) events.push(readProposedEvent(message.message()));
    else if (message.field === 4) last = message.bool();
    else message.skip();
  }
  if (correlation === undefined) throw new MalformedMessage('a correlation id is missing');
  return { correlation, options, events, last };
}

function readOptions(message: WireReader, now: number): BatchOptions {
  const target = { stream: '', expected: 'any' as Expectation };
  let deadline: number | undefined;
  while (message.next()) {
    if (readTargetField(message, target)) continue;
    if (message.field === 6)
      deadline = readSeconds(message.message()); // a point in time
    else if (message.field === 7)
      deadline = now + readSeconds(message.message()); // a span, from newer clients
    else message.skip();
  }
  return { ...target, deadline };
}

/** A timestamp or duration in milliseconds: both are seconds and nanoseconds. */
function readSeconds(message: WireReader): number {
  let milliseconds = 0;
  while (message.next()) {
    if (message.field === 1) milliseconds += message.number() * 1000;
    else if (message.field === 2) milliseconds += message.number() / 1e6;
    else message.skip();
  }
  return milliseconds;
}

/** The answer to one append, as a message. */
export function batchAnswer(correlation: Buffer, options: BatchOptions, outcome: Outcome): Buffer {
  const answer = new WireWriter().block(1, correlation);
  if (outcome.kind === 'written') answer.message(3, (success) => writeSuccess(success, outcome));
  else answer.message(2, (status) => writeFailure(status, options, outcome));
  answer.block(4, streamIdentifier(options.stream));
  return writeExpectation(answer, options.expected, [5, 6, 7, 8]).finish();
}

function writeSuccess(success: WireWriter, { revision, position }: Outcome & { kind: 'written' }): void {
  if (revision < 0) success.empty(2);
  else success.number(1, revision);
  if (position === undefined) success.empty(4);
  else success.message(3, (at) => at.number(1, position).number(2, position));
}

type Failure = Exclude<Outcome, { kind: 'written' }>;

/** Codes of google.rpc.Code. */
const CODE = { unknown: 2, invalid: 3, deadline: 4, precondition: 9 } as const;

function writeFailure(status: WireWriter, options: BatchOptions, outcome: Failure): void {
  const put = (code: number, text: string, detail: string, build: (detail: WireWriter) => void): void => {
    status.number(1, code).string(2, text);
    status.message(3, (any) => any.string(1, `type.googleapis.com/event_store.client.${detail}`).message(2, build));
  };
  switch (outcome.kind) {
    case 'wrong_version':
      return put(CODE.precondition, 'wrong expected version', 'WrongExpectedVersion', (detail) => {
        if (outcome.current < 0) detail.empty(2);
        else detail.number(1, outcome.current);
        writeExpectation(detail, options.expected, [3, 6, 4, 5]);
      });
    case 'stream_deleted':
      return put(CODE.precondition, 'stream deleted', 'StreamDeleted', (detail) => {
        detail.block(1, streamIdentifier(options.stream));
      });
    case 'too_large':
      return put(CODE.invalid, 'append larger than allowed', 'MaximumAppendSizeExceeded', (detail) => {
        detail.number(1, MAX_APPEND_BYTES);
      });
    case 'unknown':
      return put(CODE.deadline, 'no answer in time; the outcome is unknown', 'Timeout', () => undefined);
    case 'refused':
      return put(CODE.invalid, outcome.reason, 'BadRequest', (detail) => detail.string(1, outcome.reason));
  }
}

/** Fields in the order: a revision, no stream, any, stream exists. */
function writeExpectation(
  message: WireWriter,
  expected: Expectation,
  [revision, noStream, any, exists]: readonly [number, number, number, number],
): WireWriter {
  if (expected === 'no_stream') return message.empty(noStream);
  if (expected === 'any') return message.empty(any);
  if (expected === 'stream_exists') return message.empty(exists);
  return message.number(revision, expected);
}
