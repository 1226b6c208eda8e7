/** The closed list of refusals. Doors translate them to their protocol; operations declare which ones they answer. */
export const refusalCodes = [
  'validation_failed',
  'authentication_failed',
  'authorization_refused',
  'not_found',
  'conflict',
  'precondition_failed',
  'unavailable',
  'internal_fault',
] as const;

export type RefusalCode = (typeof refusalCodes)[number];

/** A fault in an input: where, and which rule it breaks. Invariant: never the value that was sent. */
export interface Issue {
  readonly param: string;
  readonly rule: string;
}

/** A refusal as a value. `reason` narrows a code for programs, `facts` are numbers or ids that a caller may act on. */
export interface Refusal<Code extends RefusalCode = RefusalCode> {
  readonly refused: Code;
  readonly message: string;
  readonly reason?: string;
  readonly param?: string;
  readonly issues?: readonly Issue[];
  readonly facts?: Readonly<Record<string, string | number>>;
  readonly retryAfterSeconds?: number;
}

const messages: Readonly<Record<RefusalCode, string>> = {
  validation_failed: 'The request does not have the shape this operation takes.',
  authentication_failed: 'A valid API key is required.',
  authorization_refused: 'This key may not do that.',
  not_found: 'There is no such resource.',
  conflict: 'The request conflicts with what is recorded.',
  precondition_failed: 'This cannot be done now.',
  unavailable: 'The service cannot answer right now. It is safe to try again.',
  internal_fault: 'Something failed on our side. It is safe to try again with the same idempotency key.',
};

type Details = Omit<Refusal, 'refused' | 'message'>;

/** Makes a refusal: `refuse('conflict', 'This thread already has a scratchpad.')`. Without a message, the code's own. */
export const refuse = <Code extends RefusalCode>(
  code: Code,
  message: string = messages[code],
  details: Details = {},
): Refusal<Code> => ({ refused: code, message, ...details });

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'refused' in value && 'message' in value;
