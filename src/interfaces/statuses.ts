import type { Issue, Refusal, RefusalCode } from '../domain/kernel/refusal.js';

export interface Status {
  readonly http: number;
  /** Exit code of the command line. */
  readonly exit: number;
  /** The same request may succeed later, with nothing changed about it. */
  readonly retryable: boolean;
}

/** What each refusal is called outside. The exit codes 8 and 9 were documented for other refusals and are not given again. */
export const statuses: Readonly<Record<RefusalCode, Status>> = {
  validation_failed: { http: 400, exit: 2, retryable: false },
  authentication_failed: { http: 401, exit: 3, retryable: false },
  authorization_refused: { http: 403, exit: 4, retryable: false },
  not_found: { http: 404, exit: 5, retryable: false },
  conflict: { http: 409, exit: 6, retryable: false },
  precondition_failed: { http: 422, exit: 7, retryable: false },
  unavailable: { http: 503, exit: 10, retryable: true },
  internal_fault: { http: 500, exit: 1, retryable: true },
};

/** A refusal as every door shows it; facts such as `revision` stand beside the fixed members. */
export interface ErrorObject {
  readonly code: RefusalCode;
  readonly message: string;
  readonly reason?: string;
  readonly param?: string;
  readonly retryable: boolean;
  readonly issues?: readonly Issue[];
  readonly [fact: string]: unknown;
}

export const errorObject = ({ refused, message, reason, param, issues, facts }: Refusal): ErrorObject => ({
  ...facts,
  code: refused,
  message,
  ...(reason !== undefined && { reason }),
  ...(param !== undefined && { param }),
  retryable: statuses[refused].retryable,
  ...(issues && { issues }),
});

/** Seconds after which trying again makes sense, for the refusals that say "later". */
export const retryAfter = ({ refused, retryAfterSeconds }: Refusal): number | undefined =>
  retryAfterSeconds ?? (refused === 'unavailable' ? 1 : undefined);
