import type { StoredHead } from '../store/storage.js';
import type { Batch } from './batch.js';
import { isMetastream, TOMBSTONE_REVISION, type ProposedEvent, type StoredEvent } from './events.js';
import { IDS_PER_HEAD } from './limits.js';
import { readTruncation, type Truncation } from './metadata.js';

/** The end of one stream: its last revision, and the ids and positions of the few events before it. */
export class Tip {
  private readonly ids: string[] = [];
  private readonly positions: number[] = [];

  constructor(public last: number) {}

  add(event: StoredEvent): void {
    this.last = event.revision;
    this.ids.push(event.id);
    this.positions.push(event.position);
    if (this.ids.length <= IDS_PER_HEAD) return;
    this.ids.shift();
    this.positions.shift();
  }

  /** Whether every event from `revision` on is remembered. */
  remembers(revision: number): boolean {
    return revision > this.last - this.ids.length;
  }

  /** The position of the last of `events` when exactly they follow `revision`. Ask only for what is remembered. */
  positionIfRepeated(revision: number, events: readonly ProposedEvent[]): number | undefined {
    const first = this.ids.length - (this.last - revision);
    const same = events.every((event, index) => this.ids[first + index] === event.id);
    return same ? this.positions[first + events.length - 1] : undefined;
  }
}

/** What the writer knows of a stream together with its metastream, commits under way included. */
export class Head {
  readonly events: Tip;
  readonly meta: Tip;
  tombstoned: boolean;
  truncation: Truncation;
  metadata: Buffer | undefined;
  /** The newest batch that holds something of this stream and is not committed yet. */
  pending: Batch | undefined;

  constructor(stored: StoredHead) {
    this.events = new Tip(stored.last);
    this.meta = new Tip(stored.metaLast);
    this.tombstoned = stored.tombstoned;
    this.metadata = stored.metadata;
    this.truncation = readTruncation(stored.metadata);
  }

  tipOf(stream: string): Tip {
    return isMetastream(stream) ? this.meta : this.events;
  }

  get exists(): boolean {
    return this.events.last >= 0 || this.meta.last >= 0;
  }

  apply(event: StoredEvent): void {
    if (event.revision === TOMBSTONE_REVISION) {
      this.tombstoned = true;
      return;
    }
    this.tipOf(event.stream).add(event);
    if (!isMetastream(event.stream)) return;
    this.metadata = Buffer.from(event.data); // a copy: the event's bytes are part of a larger buffer
    this.truncation = readTruncation(this.metadata);
  }
}
