/*
 * What an event store does with streams, in the plainest words: no storage, no concurrency, no speed. The real one is
 * held against it.
 */

export type Expected = number | 'any' | 'no_stream' | 'stream_exists';
export type Answer = { readonly written: number } | 'conflict' | 'deleted';

export interface Metadata {
  readonly maxCount?: number;
  readonly truncateBefore?: number;
}

interface Stream {
  readonly ids: string[];
  metadata: Metadata;
  hasMetadata: boolean;
  softDeleted: boolean;
  tombstoned: boolean;
}

export class Model {
  private readonly streams = new Map<string, Stream>();
  /** Where each id was written last. */
  private readonly places = new Map<string, { readonly stream: string; readonly revision: number }>();

  append(name: string, expected: Expected, ids: readonly string[]): Answer {
    const stream = this.stream(name);
    const last = stream.ids.length - 1;
    if (stream.tombstoned) return 'deleted';
    if (expected === 'stream_exists') {
      if (stream.softDeleted) return 'deleted';
      if (!exists(stream)) return 'conflict';
    }
    if (expected === 'any' || expected === 'stream_exists') {
      return this.weakly(name, ids) ?? this.write(name, stream, ids);
    }
    const revision = expected === 'no_stream' ? -1 : expected;
    if (revision === last) return this.write(name, stream, ids);
    if (revision > last) return 'conflict';
    const stored = stream.ids.slice(revision + 1, revision + 1 + ids.length);
    if (stored.length === ids.length && stored.every((id, at) => id === ids[at]))
      return { written: revision + ids.length };
    const anew = stream.softDeleted && revision === -1 && stored[0] !== ids[0];
    return anew ? this.write(name, stream, ids) : 'conflict';
  }

  delete(name: string, expected: Exclude<Expected, 'stream_exists'>): Answer {
    const stream = this.stream(name);
    if (stream.tombstoned) return 'deleted';
    if (!exists(stream) || !meets(stream, expected)) return 'conflict';
    Object.assign(stream, { softDeleted: true, hasMetadata: true, metadata: {} });
    return { written: 0 };
  }

  tombstone(name: string, expected: Exclude<Expected, 'stream_exists'>): Answer {
    const stream = this.stream(name);
    if (stream.tombstoned) return 'deleted';
    if (!meets(stream, expected)) return 'conflict';
    stream.tombstoned = true;
    return { written: 0 };
  }

  describe(name: string, metadata: Metadata): Answer {
    const stream = this.stream(name);
    if (stream.tombstoned) return 'deleted';
    stream.metadata = stream.softDeleted ? { ...metadata, truncateBefore: stream.ids.length } : metadata;
    Object.assign(stream, { softDeleted: false, hasMetadata: true });
    return { written: 0 };
  }

  /** The revisions and ids that a reader sees. */
  read(name: string): 'absent' | 'deleted' | [number, string][] {
    const stream = this.stream(name);
    if (stream.tombstoned) return 'deleted';
    if (stream.softDeleted || stream.ids.length === 0) return 'absent';
    const { maxCount = Infinity, truncateBefore = 0 } = stream.metadata;
    const lowest = Math.max(truncateBefore, stream.ids.length - maxCount);
    return [...stream.ids.entries()].filter(([revision]) => revision >= lowest);
  }

  private weakly(name: string, ids: readonly string[]): Answer | undefined {
    const known = ids
      .map((id) => this.places.get(id))
      .map((place) => (place?.stream === name ? place.revision : undefined));
    if (known[0] === undefined) return undefined;
    const last = known.at(-1);
    return last === undefined || known.includes(undefined) ? 'conflict' : { written: last };
  }

  private write(name: string, stream: Stream, ids: readonly string[]): Answer {
    if (stream.softDeleted) stream.metadata = { truncateBefore: stream.ids.length };
    stream.softDeleted = false;
    for (const id of ids) {
      this.places.set(id, { stream: name, revision: stream.ids.length });
      stream.ids.push(id);
    }
    return { written: stream.ids.length - 1 };
  }

  private stream(name: string): Stream {
    const fresh = { ids: [], metadata: {}, hasMetadata: false, softDeleted: false, tombstoned: false };
    const stream = this.streams.get(name) ?? fresh;
    this.streams.set(name, stream);
    return stream;
  }
}

const exists = (stream: Stream): boolean => stream.ids.length > 0 || stream.hasMetadata;

const meets = (stream: Stream, expected: Exclude<Expected, 'stream_exists'>): boolean =>
  expected === 'any' || (expected === 'no_stream' ? -1 : expected) === stream.ids.length - 1;
