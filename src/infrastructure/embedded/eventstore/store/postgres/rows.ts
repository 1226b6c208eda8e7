import { TOMBSTONE_DIGITS, TOMBSTONE_REVISION, type StoredEvent } from '../../engine/events.js';

/** A row as it arrives, in text: the driver would otherwise look up a parser for every column of every row. */
export type EventRow = readonly [
  position: string,
  stream: string,
  revision: string,
  id: string,
  type: string,
  json: string,
  created: string,
  data: string,
  metadata: string,
];

export const EVENT_COLUMNS = 'position, stream, revision, id, type, json, created, data, metadata';

export const verbatim = { getTypeParser: () => (value: string) => value };

export function eventOf([position, stream, revision, id, type, json, created, data, metadata]: EventRow): StoredEvent {
  return {
    position: Number(position),
    stream,
    revision: revisionOf(revision),
    id: Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1'),
    type,
    json: json === 't',
    created: Number(created),
    data: bytesOf(data),
    metadata: bytesOf(metadata),
  };
}

export const revisionOf = (text: string): number => (text === TOMBSTONE_DIGITS ? TOMBSTONE_REVISION : Number(text));

/** Bytes arrive as `\x` and hexadecimal digits. */
export const bytesOf = (text: string): Buffer => Buffer.from(text.slice(2), 'hex');
