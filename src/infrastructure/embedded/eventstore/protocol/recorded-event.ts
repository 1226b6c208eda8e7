import { TOMBSTONE_REVISION, type StoredEvent } from '../engine/events.js';
import { structuredUuid } from './uuid.js';
import { putVarint, varintLength } from '../../../protobuf/wire.js';

/*
 * The one message that is sent by the million, so it is laid out by hand: sizes first, then one pass over one buffer.
 * The bytes of each field go in the order of their numbers.
 */

const JSON_CONTENT = contentEntry('application/json');
const BINARY_CONTENT = contentEntry('application/octet-stream');
/** The start of the map entry for the creation time; its value follows. */
const CREATED_HEAD = Buffer.concat([Buffer.from([0x0a, 7]), Buffer.from('created'), Buffer.from([0x12])]);
/** 2^63-1, the revision of a tombstone, as a varint. */
const TOMBSTONE_VARINT = Buffer.from('ffffffffffffffff7f', 'hex');
const DASH = 0x2d;
const DIGITS = Buffer.from('0123456789abcdef');
/** Up to so many characters are written faster one by one than by a call out of JavaScript. */
const SHORT = 40;

/** The whole map entry for a content type. */
function contentEntry(contentType: string): Buffer {
  const key = 'content-type';
  return Buffer.concat([
    Buffer.from([0x32, key.length + contentType.length + 4, 0x0a, key.length]),
    Buffer.from(key),
    Buffer.from([0x12, contentType.length]),
    Buffer.from(contentType),
  ]);
}

export interface Layout {
  readonly event: StoredEvent;
  readonly uuid: Buffer | undefined;
  readonly streamLength: number;
  readonly typeLength: number;
  readonly created: string;
  /** Length of the RecordedEvent message. */
  readonly length: number;
}

/** Bytes of a length and what it measures. */
export const prefixed = (length: number): number => varintLength(length) + length;

export function layOut(event: StoredEvent, uuids: 'string' | 'structured'): Layout {
  const uuid = uuids === 'structured' ? structuredUuid(event.id) : undefined;
  const streamLength = Buffer.byteLength(event.stream);
  const typeLength = Buffer.byteLength(event.type);
  const created = `${event.created}0000`; // ticks of 100 ns
  const length =
    1 +
    prefixed(uuid ? uuid.length : 38) +
    1 +
    prefixed(1 + prefixed(streamLength)) +
    1 +
    revisionLength(event.revision) +
    2 * (1 + varintLength(event.position)) +
    1 +
    prefixed(7 + prefixed(typeLength)) +
    contentOf(event).length +
    1 +
    prefixed(CREATED_HEAD.length + prefixed(created.length)) +
    1 +
    prefixed(event.metadata.length) +
    1 +
    prefixed(event.data.length);
  return { event, uuid, streamLength, typeLength, created, length };
}

const contentOf = (event: StoredEvent): Buffer => (event.json ? JSON_CONTENT : BINARY_CONTENT);

const revisionLength = (revision: number): number =>
  revision === TOMBSTONE_REVISION ? TOMBSTONE_VARINT.length : varintLength(revision);

/** Writes the message laid out and answers the offset behind it. */
export function putRecordedEvent(target: Buffer, start: number, layout: Layout): number {
  const { event, created } = layout;
  let at = putUuid(target, start, layout);
  target[at++] = 0x12;
  at = putVarint(target, at, 1 + prefixed(layout.streamLength));
  target[at++] = 0x1a;
  at = putText(target, at, event.stream, layout.streamLength);
  target[at++] = 0x18;
  at = putRevision(target, at, event.revision);
  target[at++] = 0x20;
  at = putVarint(target, at, event.position);
  target[at++] = 0x28;
  at = putVarint(target, at, event.position);
  target[at++] = 0x32;
  at = putVarint(target, at, 7 + prefixed(layout.typeLength));
  target[at++] = 0x0a;
  at = putText(target, at, 'type', 4);
  target[at++] = 0x12;
  at = putText(target, at, event.type, layout.typeLength);
  const content = contentOf(event);
  content.copy(target, at);
  at += content.length;
  target[at++] = 0x32;
  at = putVarint(target, at, CREATED_HEAD.length + prefixed(created.length));
  CREATED_HEAD.copy(target, at);
  at = putText(target, at + CREATED_HEAD.length, created, created.length);
  target[at++] = 0x3a;
  at = putBytes(target, at, event.metadata);
  target[at++] = 0x42;
  return putBytes(target, at, event.data);
}

function putUuid(target: Buffer, start: number, { uuid, event }: Layout): number {
  let at = start;
  target[at++] = 0x0a;
  if (uuid) return putBytes(target, at, uuid);
  target[at++] = 38;
  target[at++] = 0x12;
  target[at++] = 36;
  return putIdText(target, at, event.id);
}

function putIdText(target: Buffer, start: number, id: string): number {
  let at = start;
  for (let index = 0; index < 16; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) target[at++] = DASH;
    const byte = id.charCodeAt(index);
    target[at++] = DIGITS[byte >>> 4] ?? 0;
    target[at++] = DIGITS[byte & 15] ?? 0;
  }
  return at;
}

function putRevision(target: Buffer, at: number, revision: number): number {
  if (revision !== TOMBSTONE_REVISION) return putVarint(target, at, revision);
  TOMBSTONE_VARINT.copy(target, at);
  return at + TOMBSTONE_VARINT.length;
}

function putText(target: Buffer, at: number, text: string, length: number): number {
  const start = putVarint(target, at, length);
  // As many bytes as characters: all of it is ASCII.
  if (length === text.length && length <= SHORT) {
    for (let index = 0; index < length; index += 1) target[start + index] = text.charCodeAt(index);
  } else if (length === text.length) target.write(text, start, 'latin1');
  else target.write(text, start, 'utf8');
  return start + length;
}

function putBytes(target: Buffer, at: number, bytes: Buffer): number {
  const start = putVarint(target, at, bytes.length);
  bytes.copy(target, start);
  return start + bytes.length;
}
