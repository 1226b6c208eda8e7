/** The gRPC status codes in use here. */
export const Status = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;
export type StatusCode = (typeof Status)[keyof typeof Status];

/** Ends a call with a status other than OK. The message and the trailers reach the client. */
export class CallError extends Error {
  constructor(
    readonly code: StatusCode,
    message: string,
    readonly trailers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
