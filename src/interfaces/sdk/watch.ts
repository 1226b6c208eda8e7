/** Ends what takes too long, or what the caller wants no more. */
export interface Watch {
  readonly signal: AbortSignal;
  /** Whether it was the time that ended it. */
  late(): boolean;
  /** From now on, something must come within this time. */
  expect(ms: number): void;
  /** Nothing is expected. */
  rest(): void;
  end(): void;
}

/** A timer that is set for longer goes off at once. */
export const longestMs = 2 ** 31 - 1;

/** A watch that also ends when `outer` is aborted. */
export function watchFor(outer: AbortSignal | undefined): Watch {
  const inner = new AbortController();
  const pass = () => inner.abort(outer?.reason);
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  if (outer?.aborted) pass();
  outer?.addEventListener('abort', pass);
  const rest = () => clearTimeout(timer);
  return {
    signal: inner.signal,
    late: () => isLate,
    expect(ms) {
      rest();
      timer = setTimeout(
        () => {
          isLate = true;
          inner.abort();
        },
        Math.min(ms, longestMs),
      );
    },
    rest,
    end() {
      rest();
      outer?.removeEventListener('abort', pass);
    },
  };
}
