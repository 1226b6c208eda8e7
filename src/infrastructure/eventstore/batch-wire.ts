import { putVarint, varintLength, WireReader, WireWriter } from '../protobuf/wire.js';
import type { Expected, NewEvent } from '../../application/ports/event-store.js';

// The messages of BatchAppend, written by hand: the generated ones cost more than the rest of an append together.

/** Parts that are the same in every event: the key of its type, and that its data is JSON. */
const typeKey = Buffer.from('\x0a\x04type', 'latin1');
const jsonContent = Buffer.from('\x12\x20\x0a\x0ccontent-type\x12\x10application/json', 'latin1');
const idBytes = 36;

/**
 * One append as a BatchAppendReq. It counts only if the server gets to it within `withinMs`, measured by the server.
 * Why not a point in time: with the server's clock some seconds ahead, appends came too late before they were sent.
 */
export function batchRequest(
  correlationId: string,
  stream: string,
  expected: Expected,
  events: readonly NewEvent[],
  withinMs: number,
): Buffer {
  const request = new WireWriter();
  request.message(1, (id) => id.string(2, correlationId));
  request.message(2, (options) => {
    options.message(1, (identifier) => identifier.string(3, stream));
    if (expected === 'none') options.empty(3);
    else if (expected === 'any') options.empty(4);
    else options.number(2, expected);
    options.message(7, (span) => span.number(1, Math.floor(withinMs / 1000)).number(2, (withinMs % 1000) * 1e6));
  });
  for (const event of events) request.block(3, proposed(event));
  return request.number(4, 1).finish();
}

/** A ProposedMessage, measured first and then written once: writers within writers took half as long again. */
function proposed({ id, type, metadata, data }: NewEvent): Buffer {
  const [typed, meta, content] = [text(type), text(JSON.stringify(metadata)), text(JSON.stringify(data))];
  const entry = typeKey.length + typed.field;
  const length = idBytes + 4 + 1 + varintLength(entry) + entry + jsonContent.length + meta.field + content.field;
  const bytes = Buffer.allocUnsafe(length);
  let at = 4 + idBytes;
  bytes.writeUInt32BE(0x0a26_1224, 0);
  bytes.write(id, 4, 'latin1');
  bytes[at++] = 0x12;
  at = putVarint(bytes, at, entry);
  bytes.set(typeKey, at);
  at = putText(bytes, at + typeKey.length, 0x12, typed);
  bytes.set(jsonContent, at);
  at = putText(bytes, at + jsonContent.length, 0x1a, meta);
  putText(bytes, at, 0x22, content);
  return bytes;
}

interface Text {
  readonly text: string;
  readonly bytes: number;
  /** Bytes with tag and length. */
  readonly field: number;
}

function text(value: string): Text {
  const bytes = Buffer.byteLength(value);
  return { text: value, bytes, field: 1 + varintLength(bytes) + bytes };
}

function putText(target: Buffer, start: number, tag: number, { text: value, bytes }: Text): number {
  target[start] = tag;
  const at = putVarint(target, start + 1, bytes);
  if (bytes === value.length) target.write(value, at, 'latin1');
  else target.write(value, at, 'utf8');
  return at + bytes;
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
