import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Reply, Success } from '../../application/gateway/request.js';
import { isRefusal, type Refusal } from '../../domain/kernel/refusal.js';
import { errorObject, retryAfter } from '../statuses.js';
import type { Offer } from './tools.js';

/** UTF-16 units that the text form of an answer has at most, but for the line that says so. */
export const maxText = 100_000;

/** A reply as the result of a tool: its object for programs, a text for models, the rest of the envelope in `_meta`. */
export const resultOf = (offer: Offer, { correlationId, result }: Reply): CallToolResult =>
  isRefusal(result) ? refused(result, correlationId) : succeeded(offer, result, correlationId);

function refused(refusal: Refusal, correlationId: string): CallToolResult {
  const error = errorObject(refusal);
  const seconds = retryAfter(refusal);
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify({ error }) }],
    structuredContent: { error },
    _meta: {
      'palimpsest/correlationId': correlationId,
      ...(seconds !== undefined && { 'palimpsest/retryAfterSeconds': seconds }),
    },
  };
}

function succeeded(
  { operation, wraps }: Offer,
  { data, page, position, replayed }: Success,
  correlationId: string,
): CallToolResult {
  const etag = operation.etag?.(data);
  // What is not wrapped is an object by its schema.
  const answer = (wraps ? { data, ...(page && { page }) } : data) as Record<string, unknown>;
  return {
    content: [{ type: 'text', text: shortened(operation.tool ? plainText(answer) : JSON.stringify(answer)) }],
    structuredContent: answer,
    _meta: {
      'palimpsest/correlationId': correlationId,
      ...(position !== undefined && { 'palimpsest/position': position }),
      ...(replayed && { 'palimpsest/replayed': replayed }),
      ...(etag !== undefined && { 'palimpsest/etag': etag }),
    },
  };
}

/** The scratchpad is read as the text that it is, not as JSON of it. */
const plainText = (answer: Readonly<Record<string, unknown>>): string =>
  typeof answer['text'] === 'string' ? answer['text'] : JSON.stringify(answer);

/** Keeps both ends: of a scratchpad, the plan and what was written last. */
function shortened(text: string): string {
  if (text.length <= maxText) return text;
  const head = text.slice(0, maxText / 2).toWellFormed();
  const tail = text.slice(-maxText / 2).toWellFormed();
  return `${head}\n[… ${text.length - maxText} characters are left out here; structuredContent has them …]\n${tail}`;
}
