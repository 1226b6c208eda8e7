import { closeSync, ftruncateSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A place in Postgres's log: everything that was durable when it was asked for lies before it. */
export interface WalPlace {
  readonly segment: string;
  readonly offset: number;
}

/** What a power cut has done to the end of the log. */
export type Damage = (walFolder: string, after: WalPlace) => void;

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** What Postgres reads at once: of a page that is cut, it reads nothing. */
const PAGE_BYTES = 8192;
const SECTOR_BYTES = 512;
/** So that the damage begins within a record rather than between two. */
const INTO_A_RECORD = 100;

export const intact: Damage = () => undefined;

/** The file ends with the page; what came later was never made. */
export const cutOff: Damage = (folder, { segment, offset }) => {
  withSegment(folder, segment, (file) => ftruncateSync(file, roundedUp(offset, PAGE_BYTES)));
  for (const later of segmentsAfter(folder, segment)) rmSync(join(folder, later));
};

/** The files are as long as ever, but hold nothing from within a record on. */
export const zeroed: Damage = (folder, { segment, offset }) => {
  const from = offset + INTO_A_RECORD;
  withSegment(folder, segment, (file) => writeSync(file, Buffer.alloc(SEGMENT_BYTES - from), 0, undefined, from));
  for (const later of segmentsAfter(folder, segment))
    withSegment(folder, later, (file) => writeSync(file, Buffer.alloc(SEGMENT_BYTES)));
};

/** One sector never reached the disk, while those behind it did. */
export const holed: Damage = (folder, { segment, offset }) => {
  const from = roundedUp(offset, SECTOR_BYTES);
  withSegment(folder, segment, (file) => writeSync(file, Buffer.alloc(SECTOR_BYTES), 0, undefined, from));
};

const roundedUp = (offset: number, unit: number): number => Math.ceil(offset / unit) * unit;

function withSegment(folder: string, segment: string, work: (file: number) => void): void {
  const file = openSync(join(folder, segment), 'r+');
  try {
    work(file);
  } finally {
    closeSync(file);
  }
}

const segmentsAfter = (folder: string, segment: string): string[] =>
  readdirSync(folder).filter((name) => /^[0-9A-F]{24}$/.test(name) && name > segment);
