/** What a writer believes about a stream: a revision it must end at, or one of these. */
export type Expectation = number | 'any' | 'no_stream' | 'stream_exists';

/** The answer to an append, a delete or a tombstone. */
export type Outcome =
  | {
      readonly kind: 'written';
      /** Last revision of the append, or the current one when nothing was proposed; -1 for a stream without events. */
      readonly revision: number;
      /** Position of its last event, if there is one. */
      readonly position: number | undefined;
    }
  | { readonly kind: 'wrong_version'; /** -1 when there is no stream. */ readonly current: number }
  | { readonly kind: 'stream_deleted' }
  | { readonly kind: 'too_large' }
  /** Not answered in time, or lost on the way to disk: the events may or may not be stored. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly reason: string };
