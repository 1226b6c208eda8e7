import type { ErrorObject } from '../statuses.js';
import { PalimpsestError, type ErrorCode } from './errors.js';
import type { Sent } from './request.js';

/** A success as the server sends it. */
export interface Envelope {
  readonly data: unknown;
  readonly correlationId: string;
  readonly position?: string;
  readonly replayed?: true;
  readonly charge?: { readonly micros: number };
  readonly page?: { readonly nextCursor: string | null; readonly lost?: readonly { from: number; to: number }[] };
}

/** Reads a success; throws when it is none of ours. */
export async function envelopeIn(response: Response, sent: Sent): Promise<Envelope> {
  const body = await jsonIn(response);
  if (!body || !('data' in body)) throw unexpected(response, sent);
  // The server's own words for its success; each answer is held to the operation's schema before it leaves.
  return body as unknown as Envelope;
}

/** Reads a refusal, or what something between has made of it. */
export async function errorIn(response: Response, sent: Sent): Promise<PalimpsestError> {
  const body = await jsonIn(response);
  if (typeof body?.['error'] !== 'object' || body['error'] === null) return unexpected(response, sent);
  // Every refusal of the server has this form.
  const { code, message, reason, param, retryable, issues, ...details } = body['error'] as ErrorObject;
  const { status } = response;
  return new PalimpsestError(message, {
    code,
    status,
    reason,
    param,
    retryable,
    issues,
    details,
    ...commonOf(response, sent, body['correlationId']),
  });
}

/** What a proxy says by the status alone. */
const codes: Readonly<Record<number, ErrorCode>> = {
  409: 'conflict',
  412: 'conflict',
  429: 'rate_limited',
  503: 'unavailable',
};

function unexpected(response: Response, sent: Sent): PalimpsestError {
  const { status } = response;
  return new PalimpsestError(`The answer, with status ${status}, is not one of Palimpsest's.`, {
    code: codes[status] ?? 'unexpected_answer',
    status,
    retryable: status === 429 || status >= 500,
    ...commonOf(response, sent),
  });
}

const commonOf = ({ headers }: Response, sent: Sent, correlationId: unknown = sent.correlationId) => ({
  retryAfterSeconds: secondsIn(headers.get('retry-after')),
  correlationId: String(correlationId),
  idempotencyKey: sent.idempotencyKey,
});

/** Seconds, or the date that something between may have made of them. */
function secondsIn(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Undefined when the body is no JSON object. A connection that ends in the middle of it is another matter, and thrown. */
async function jsonIn(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await response.text();
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
