import type { Expectation } from '../engine/expectation.js';
import { readStreamName } from './stream-identifier.js';
import { WireReader } from '../../../protobuf/wire.js';

/** The stream that a request changes, and what its sender believes of it. */
export interface Target {
  readonly stream: string;
  readonly expected: Expectation;
}

/** Reads one of the fields that the options of all writing requests begin with; false when it is another one. */
export function readTargetField(options: WireReader, target: { stream: string; expected: Expectation }): boolean {
  if (options.field < 1 || options.field > 5) return false;
  if (options.field === 1) target.stream = readStreamName(options.message());
  else if (options.field === 2) target.expected = options.number();
  else {
    if (options.field === 3) target.expected = 'no_stream';
    if (options.field === 4) target.expected = 'any';
    if (options.field === 5) target.expected = 'stream_exists';
    options.skip();
  }
  return true;
}

export function readTarget(options: WireReader): Target {
  const target = { stream: '', expected: 'any' as Expectation };
  while (options.next()) if (!readTargetField(options, target)) options.skip();
  return target;
}

/** The requests for a delete and a tombstone: options, and nothing else. */
export function readRemoval(bytes: Buffer): Target {
  const request = new WireReader(bytes);
  let target: Target = { stream: '', expected: 'any' };
  while (request.next()) {
    if (request.field === 1) target = readTarget(request.message());
    else request.skip();
  }
  return target;
}
