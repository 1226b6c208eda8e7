import type { Outcome } from '../engine/expectation.js';
import { MAX_APPEND_BYTES } from '../engine/limits.js';
import { CallError, Status } from '../grpc/status.js';
import { MissingProperty } from '../protocol/proposed-event.js';
import type { Target } from '../protocol/target.js';
import { MalformedMessage } from '../../../protobuf/wire.js';

/*
 * The trailers by which clients tell one failure from another.
 */

export const streamDeleted = (stream: string): CallError =>
  new CallError(Status.failedPrecondition, 'The stream is deleted.', {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

export const appendTooLarge = (): CallError =>
  new CallError(Status.invalidArgument, `An append may have at most ${MAX_APPEND_BYTES} bytes.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(MAX_APPEND_BYTES),
  });

export const tooMuchArriving = (): CallError =>
  new CallError(Status.resourceExhausted, 'Too many unfinished appends; finish some first.');

const EXPECTED = { any: -2, no_stream: -1, stream_exists: -4 } as const;

const wrongVersion = ({ stream, expected }: Target, current: number): CallError =>
  new CallError(Status.failedPrecondition, 'The stream is not at the expected version.', {
    exception: 'wrong-expected-version',
    'stream-name': stream,
    'expected-version': String(typeof expected === 'number' ? expected : EXPECTED[expected]),
    'actual-version': current < 0 ? '' : String(current),
  });

/** The error for an outcome that is not a success. */
export function errorOf(outcome: Exclude<Outcome, { kind: 'written' }>, target: Target): CallError {
  switch (outcome.kind) {
    case 'wrong_version':
      return wrongVersion(target, outcome.current);
    case 'stream_deleted':
      return streamDeleted(target.stream);
    case 'too_large':
      return appendTooLarge();
    case 'unknown':
      return new CallError(Status.deadlineExceeded, 'No answer in time; the outcome is unknown.');
    case 'refused':
      return new CallError(Status.invalidArgument, outcome.reason);
  }
}

/** What a request that cannot be read is answered with; other faults stay what they are. */
export function translated(thrown: unknown): unknown {
  if (thrown instanceof MissingProperty) {
    return new CallError(Status.invalidArgument, `The event has no ${thrown.property}.`, {
      exception: 'missing-required-metadata-property',
      'required-metadata-properties': thrown.property,
    });
  }
  return thrown instanceof MalformedMessage
    ? new CallError(Status.invalidArgument, `The request cannot be read: ${thrown.message}.`)
    : thrown;
}
