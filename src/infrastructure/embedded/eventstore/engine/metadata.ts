import { HUGE } from '../../../protobuf/wire.js';
import { TOMBSTONE_DIGITS } from './events.js';

/** What a stream's metadata says about which of its events are still visible. */
export interface Truncation {
  /** Events below this revision are gone from reads of the stream. */
  readonly before: number;
  readonly maxCount: number | undefined;
  /** Seconds. */
  readonly maxAge: number | undefined;
  /** The stream reads as if it were not there, until something is written to it. */
  readonly softDeleted: boolean;
}

/** The metadata that soft-deletes a stream. The digits are literal: no double can hold them. */
export const SOFT_DELETE = Buffer.from(`{"$tb":${TOMBSTONE_DIGITS}}`);

/** Reads metadata leniently: what is not understood has no effect. */
export function readTruncation(data: Buffer | undefined): Truncation {
  const values = parse(data);
  const before = positive(values['$tb']) ?? 0;
  return {
    before,
    maxCount: positive(values['$maxCount']),
    maxAge: positive(values['$maxAge']),
    softDeleted: before >= HUGE,
  };
}

/** The same metadata, but with events visible from `revision` on. */
export const undeletedFrom = (data: Buffer | undefined, revision: number): Buffer =>
  Buffer.from(JSON.stringify({ ...parse(data), $tb: revision }));

/** The lowest revision that a read of the stream shows, given its last one. */
export function lowestVisible(truncation: Truncation, last: number): number {
  const { before, maxCount } = truncation;
  return maxCount === undefined ? before : Math.max(before, last - maxCount + 1);
}

/** Events created before this time are too old to be shown; undefined when age does not matter. */
export const visibleSince = ({ maxAge }: Truncation, now: number): number | undefined =>
  maxAge === undefined ? undefined : now - maxAge * 1000;

function parse(data: Buffer | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data?.toString('utf8') ?? '{}');
    // Any object that JSON.parse makes has string keys.
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

const positive = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 ? Math.floor(value) : undefined;
