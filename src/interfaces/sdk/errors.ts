import type { Issue, RefusalCode } from '../../domain/kernel/refusal.js';

/**
 * The server's codes, and three of the client's own: `connection_failed` (no answer, none in time, or one cut short; a
 * command may have been done), `rate_limited` (a proxy answered 429) and `unexpected_answer` (another program answered,
 * or a proxy refused). A newer server may send codes that are not listed here: they are passed on as they are.
 */
export type ErrorCode = RefusalCode | 'rate_limited' | 'connection_failed' | 'unexpected_answer';

/** The members of an error beside its message. */
interface ErrorDetails {
  readonly code: ErrorCode;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly param?: string | undefined;
  readonly issues?: readonly Issue[] | undefined;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
  readonly correlationId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** Every "no" and every failure of a call, after its retries. It holds no input and no key. */
export class PalimpsestError extends Error {
  override readonly name = 'PalimpsestError';
  /** The kind of refusal or failure; switch on this one. */
  readonly code: ErrorCode;
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** Narrows the code where there is more than one cause, e.g. `revision_mismatch`, `timeout`. */
  readonly reason: string | undefined;
  /** The field or header that is wrong. */
  readonly param: string | undefined;
  /** For `validation_failed`: each field that is wrong, and the rule it breaks. */
  readonly issues: readonly Issue[];
  /** The same call may succeed later with nothing changed about it. */
  readonly retryable: boolean;
  /** When the server says that trying again makes sense. */
  readonly retryAfterSeconds: number | undefined;
  /** Names the call in logs and in the audit trail. */
  readonly correlationId: string | undefined;
  /** Of a command: sent again under this key it happens once, whatever became of it. */
  readonly idempotencyKey: string | undefined;
  /** Further facts to act on, e.g. the current `revision`. */
  readonly details: Readonly<Record<string, unknown>>;

  /** @internal The client makes it. */
  constructor(message: string, details: ErrorDetails) {
    super(message);
    this.code = details.code;
    this.status = details.status;
    this.reason = details.reason;
    this.param = details.param;
    this.issues = details.issues ?? [];
    this.retryable = details.retryable;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.correlationId = details.correlationId;
    this.idempotencyKey = details.idempotencyKey;
    this.details = details.details ?? {};
  }
}
