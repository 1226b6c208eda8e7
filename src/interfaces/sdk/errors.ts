import type { Issue, RefusalCode } from '../../domain/kernel/refusal.js';

/**
 * The server's codes, and two of the client's own: `connection_failed` (no answer, none in time, or one cut short; a
 * command may have been done) and `unexpected_answer` (what answered is no Palimpsest, or something between refused).
 */
export type ErrorCode = RefusalCode | 'connection_failed' | 'unexpected_answer';

/** What an error tells besides its message. */
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
  /** What kind of "no" it is; switch on this one. */
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
  /** Further facts to act on, e.g. the current `revision`, `balanceMicros`. */
  readonly details: Readonly<Record<string, unknown>>;

  /** @internal The client makes it. */
  constructor(message: string, told: ErrorDetails) {
    super(message);
    this.code = told.code;
    this.status = told.status;
    this.reason = told.reason;
    this.param = told.param;
    this.issues = told.issues ?? [];
    this.retryable = told.retryable;
    this.retryAfterSeconds = told.retryAfterSeconds;
    this.correlationId = told.correlationId;
    this.idempotencyKey = told.idempotencyKey;
    this.details = told.details ?? {};
  }
}
