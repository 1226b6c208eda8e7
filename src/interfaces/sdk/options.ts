/** How to reach a server, and how patiently. */
export interface PalimpsestOptions {
  /** Where the server is, e.g. `http://127.0.0.1:4700`; a path before `/v1` is kept. */
  readonly url: string;
  /** `plm_…`. It is sent to that server only, and never shown by what the client prints, logs or throws. */
  readonly apiKey: string;
  /** How long one attempt may take, in milliseconds; for streams and events, until they begin. Default 30 000. */
  readonly timeoutMs?: number;
  /** How often a call that failed for a while is tried again: no connection, 429, 5xx. Default 3; 0 for never. */
  readonly retries?: number;
  /** The longest wait before a retry, in milliseconds. A longer wait is an error at once. Default 10 000. */
  readonly maxRetryDelayMs?: number;
  /** Whether reads wait, on the server, until they show what this client has written. Default true. */
  readonly readYourWrites?: boolean;
  /** The `position` of another client, whose writes this one is to read too. */
  readonly position?: string;
}

/** Options of every call beside its input. */
export interface CallOptions {
  /** Ends the call, its retries and its waiting: it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** For this call in place of the client's; for streams and events, also how long nothing may come (default 30 000). */
  readonly timeoutMs?: number;
  /** For this call in place of the client's. */
  readonly retries?: number;
  /** A uuid to find the call by in logs and in the audit trail. Default: a random one. */
  readonly correlationId?: string;
  /** The scratchpad that `tools` act on, for a key that is not bound to one. */
  readonly scratchpad?: string;
}

/** For operations that read. */
export interface ReadOptions extends CallOptions {
  /** Waits (2 s at most) for the read models to reach this position, in place of the client's own; null: for none. */
  readonly minPosition?: string | null;
}

/** For operations that change something. */
export interface CommandOptions extends CallOptions {
  /** A uuid. The command happens once, however often it is sent under it. Default: a random one for each call. */
  readonly idempotencyKey?: string;
  /** The content revision that must still be the current one, e.g. 7 or `"r7"`; otherwise the error is `conflict`. */
  readonly ifMatch?: number | string;
  /** Answers without waiting for the read models. */
  readonly respondAsync?: boolean;
}
