import { EVENT_OVERHEAD, MIN_EVENT_BYTES } from './limits.js';

/** An event as a client proposes it. The byte fields may be views into a larger buffer. */
export interface ProposedEvent {
  /** Sixteen bytes as a latin-1 string: compact, and usable as a map key. */
  readonly id: string;
  readonly type: string;
  readonly json: boolean;
  readonly data: Buffer;
  readonly metadata: Buffer;
}

/** An event at its place in its stream and in the order of all events. */
export interface StoredEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  /** Milliseconds since the Unix epoch. */
  readonly created: number;
}

/**
 * The revision of a tombstone. On the wire and in storage it is 2^63-1, which a double cannot hold; here it is 2^63,
 * and the two edges translate.
 */
export const TOMBSTONE_REVISION = 2 ** 63;
export const TOMBSTONE_DIGITS = '9223372036854775807';

export const TOMBSTONE_TYPE = '$streamDeleted';
export const METADATA_TYPE = '$metadata';
export const LINK_TYPE = '$>';

export const isMetastream = (stream: string): boolean => stream.startsWith('$$');

/** The stream that a metastream describes; any other stream is its own. */
export const ownerOf = (stream: string): string => (isMetastream(stream) ? stream.slice(2) : stream);

export const metastreamOf = (stream: string): string => `$$${stream}`;

/** Bytes that an append is charged for this event. */
export const sizeOf = ({ data, metadata, type }: ProposedEvent): number =>
  Math.max(MIN_EVENT_BYTES, data.length + metadata.length + 2 * type.length);

/** Bytes that this event takes up in memory. */
export const weightOf = (event: ProposedEvent): number => EVENT_OVERHEAD + sizeOf(event);
