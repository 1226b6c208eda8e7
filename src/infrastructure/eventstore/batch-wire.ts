import { WireReader, WireWriter } from '../embedded/eventstore/protocol/wire.js';
import type { Expected, NewEvent } from '../../application/ports.js';

// The messages of BatchAppend, written by hand: the generated ones cost more than the rest of an append together.

const json = Buffer.from('application/json');

/** One append as a BatchAppendReq. `deadline` is a point in time, in milliseconds since the epoch. */
export function batchRequest(
  correlationId: string,
  stream: string,
  expected: Expected,
  events: readonly NewEvent[],
  deadline: number,
): Buffer {
  const request = new WireWriter();
  request.message(1, (id) => id.string(2, correlationId));
  request.message(2, (options) => {
    options.message(1, (identifier) => identifier.string(3, stream));
    if (expected === 'none') options.empty(3);
    else if (expected === 'any') options.empty(4);
    else options.number(2, expected);
    options.message(6, (at) => at.number(1, Math.floor(deadline / 1000)).number(2, (deadline % 1000) * 1e6));
  });
  for (const event of events) {
    request.message(3, (message) => {
      message.message(1, (id) => id.string(2, event.id));
      message.message(2, (entry) => entry.string(1, 'type').string(2, event.type));
      message.message(2, (entry) => entry.string(1, 'content-type').block(2, json));
      message.string(3, JSON.stringify(event.metadata));
      message.string(4, JSON.stringify(event.data));
    });
  }
  return request.number(4, 1).finish();
}

export interface BatchAnswer {
  /** The last 48 bits of the correlation id. */
  readonly number: number;
  readonly written?: { readonly revision: number; readonly position: bigint };
  /** The name of the error's detail, e.g. `WrongExpectedVersion`. */
  readonly failure?: string;
}

export function readBatchAnswer(bytes: Buffer): BatchAnswer {
  const message = new WireReader(bytes);
  let number = -1;
  let written: BatchAnswer['written'];
  let failure: string | undefined;
  while (message.next()) {
    if (message.field === 1) number = readCorrelation(message.message());
    else if (message.field === 2) failure = readFailure(message.message());
    else if (message.field === 3) written = readSuccess(message.message());
    else message.skip();
  }
  return { number, ...(written && { written }), ...(failure !== undefined && { failure }) };
}

/** Servers answer in the string form or in the structured one (two halves of 64 bits). */
function readCorrelation(message: WireReader): number {
  let number = -1;
  while (message.next()) {
    if (message.field === 2) number = Number.parseInt(message.string().slice(-12), 16);
    else if (message.field === 1) {
      const halves = message.message();
      while (halves.next()) {
        if (halves.field === 2) number = Number(halves.bigint() & 0xffff_ffff_ffffn);
        else halves.skip();
      }
    } else message.skip();
  }
  return number;
}

function readSuccess(message: WireReader): { revision: number; position: bigint } {
  let revision = -1;
  let position = 0n;
  while (message.next()) {
    if (message.field === 1) revision = message.number();
    else if (message.field === 3) {
      const at = message.message();
      while (at.next()) {
        if (at.field === 1) position = at.bigint();
        else at.skip();
      }
    } else message.skip();
  }
  return { revision, position };
}

/** A google.rpc.Status, whose detail is an Any with a type URL. */
function readFailure(message: WireReader): string {
  let failure = 'Unknown';
  while (message.next()) {
    if (message.field !== 3) message.skip();
    else {
      const any = message.message();
      while (any.next()) {
        if (any.field === 1) failure = any.string().split('.').at(-1) ?? failure;
        else any.skip();
      }
    }
  }
  return failure;
}
