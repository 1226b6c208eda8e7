import type { StoredEvent } from '../engine/events.js';
import { frame, FRAME_HEADER, putFrameHeader } from '../grpc/frames.js';
import { layOut, prefixed, putRecordedEvent, type Layout } from './recorded-event.js';
import { streamIdentifier } from './stream-identifier.js';
import { putVarint, varintLength, WireWriter } from '../../../protobuf/wire.js';

/** An event as read: a link carries what it points to, unless that is gone. */
export interface ResolvedEvent {
  readonly event: StoredEvent | undefined;
  readonly link: StoredEvent | undefined;
}

/** One ReadResp with an event, framed and ready to be sent. */
export function eventFrame(resolved: ResolvedEvent, uuids: 'string' | 'structured'): Buffer {
  const event = resolved.event && layOut(resolved.event, uuids);
  const link = resolved.link && layOut(resolved.link, uuids);
  const position = (resolved.link ?? resolved.event)?.position ?? 0;
  const inner = fieldLength(event) + fieldLength(link) + 1 + varintLength(position);
  const length = 1 + prefixed(inner);
  const bytes = Buffer.allocUnsafe(FRAME_HEADER + length);
  let at = putFrameHeader(bytes, 0, length);
  bytes[at++] = 0x0a;
  at = putVarint(bytes, at, inner);
  at = putField(bytes, at, 0x0a, event);
  at = putField(bytes, at, 0x12, link);
  bytes[at++] = 0x18;
  putVarint(bytes, at, position);
  return bytes;
}

const fieldLength = (layout: Layout | undefined): number => (layout ? 1 + prefixed(layout.length) : 0);

function putField(bytes: Buffer, start: number, tag: number, layout: Layout | undefined): number {
  if (!layout) return start;
  bytes[start] = tag;
  return putRecordedEvent(bytes, putVarint(bytes, start + 1, layout.length), layout);
}

export const confirmationFrame = (subscriptionId: string): Buffer =>
  frame(new WireWriter().message(2, (confirmation) => confirmation.string(1, subscriptionId)).finish());

export const checkpointFrame = (position: number): Buffer =>
  frame(new WireWriter().message(3, (checkpoint) => checkpoint.number(1, position).number(2, position)).finish());

export const notFoundFrame = (stream: string): Buffer =>
  frame(new WireWriter().message(4, (notFound) => notFound.block(1, streamIdentifier(stream))).finish());

export const caughtUpFrame = (): Buffer => frame(new WireWriter().empty(8).finish());
