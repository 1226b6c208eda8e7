import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Success } from '../../application/gateway/request.js';
import type { Operation } from '../../application/operation/operation.js';
import type { Refusal } from '../../domain/kernel/refusal.js';
import { errorObject, retryAfter, statuses } from '../statuses.js';

/** Names and values in turn: the form that node writes fastest. */
type Headers = string[];

/** What every answer of an operation carries: it is data, never a page, and nothing between may keep it. */
const headersFor = (correlationId: string): Headers => [
  'X-Correlation-Id',
  correlationId,
  'Cache-Control',
  'no-store',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Referrer-Policy',
  'no-referrer',
  'Strict-Transport-Security',
  'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options',
  'nosniff',
];

/** Answers an operation's success: `{data, correlationId, …}`. */
export function sendSuccess(
  response: ServerResponse,
  operation: Operation,
  success: Success,
  correlationId: string,
): void {
  const headers = successHeaders(success, correlationId);
  const etag = operation.etag?.(success.data);
  if (etag !== undefined) headers.push('ETag', etag);
  const { data, ...rest } = success;
  sendJson(response, operation.creates ? 201 : 200, headers, jsonType, { data, correlationId, ...rest });
}

export function successHeaders({ position, replayed }: Success, correlationId: string): Headers {
  const headers = headersFor(correlationId);
  if (position !== undefined) headers.push('Palimpsest-Position', position);
  if (replayed) headers.push('Idempotency-Replayed', 'true');
  return headers;
}

/** Answers a refusal, as problem details where those were asked for. `status` is for the few that HTTP names itself. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  correlationId: string,
  status = statuses[refusal.refused].http,
): void {
  const headers = headersFor(correlationId);
  const seconds = retryAfter(refusal);
  if (seconds !== undefined) headers.push('Retry-After', String(seconds));
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer');
  const error = errorObject(refusal);
  if (!request.headers.accept?.includes('application/problem+json')) {
    sendJson(response, status, headers, jsonType, { error, correlationId });
    return;
  }
  const problem = {
    type: `urn:palimpsest:refusal:${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status,
    detail: error.message,
    ...error,
    correlationId,
  };
  sendJson(response, status, headers, 'application/problem+json', problem);
}

const jsonType = 'application/json; charset=utf-8';

function sendJson(response: ServerResponse, status: number, headers: Headers, type: string, body: unknown): void {
  const text = JSON.stringify(body);
  headers.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(text)));
  response.writeHead(status, headers).end(text);
}
