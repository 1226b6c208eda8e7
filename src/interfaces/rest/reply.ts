import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Success } from '../../application/gateway.js';
import type { Operation } from '../../application/operation.js';
import type { Refusal } from '../../domain/kernel/refusal.js';
import { errorObject, retryAfter, statuses } from '../statuses.js';

/** Answers an operation's success: `{data, correlationId, …}`. */
export function sendSuccess(
  response: ServerResponse,
  operation: Operation,
  success: Success,
  correlationId: string,
): void {
  const headers = successHeaders(success, correlationId);
  const etag = operation.etag?.(success.data);
  if (etag !== undefined) headers['ETag'] = etag;
  const { data, ...told } = success;
  sendJson(response, operation.creates ? 201 : 200, headers, { data, correlationId, ...told });
}

export function successHeaders({ position, replayed }: Success, correlationId: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { 'X-Correlation-Id': correlationId, 'Cache-Control': 'no-store' };
  if (position !== undefined) headers['Palimpsest-Position'] = position;
  if (replayed) headers['Idempotency-Replayed'] = 'true';
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
  const headers: OutgoingHttpHeaders = { 'X-Correlation-Id': correlationId, 'Cache-Control': 'no-store' };
  const seconds = retryAfter(refusal);
  if (seconds !== undefined) headers['Retry-After'] = seconds;
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  const error = errorObject(refusal);
  if (!request.headers.accept?.includes('application/problem+json')) {
    sendJson(response, status, headers, { error, correlationId });
    return;
  }
  headers['Content-Type'] = 'application/problem+json';
  const problem = {
    type: `urn:palimpsest:refusal:${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status,
    detail: error.message,
    ...error,
    correlationId,
  };
  sendJson(response, status, headers, problem);
}

function sendJson(response: ServerResponse, status: number, headers: OutgoingHttpHeaders, body: unknown): void {
  const text = JSON.stringify(body);
  headers['Content-Type'] ??= 'application/json; charset=utf-8';
  headers['Content-Length'] = Buffer.byteLength(text);
  response.writeHead(status, headers).end(text);
}
