import type { IncomingHttpHeaders } from 'node:http';
import type { Request as Call } from '../../application/gateway/request.js';
import type { Operation } from '../../application/operation/operation.js';
import { invalid } from '../../application/kernel/validation.js';

/** What the HTTP request says for every call that it carries. */
export interface RequestContext {
  readonly bearer: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** What a runtime may say beside the arguments, in `_meta` of a call: the model neither sees nor sends it. */
const metaFields = {
  idempotencyKey: 'palimpsest/idempotencyKey',
  ifMatch: 'palimpsest/ifMatch',
  minPosition: 'palimpsest/minPosition',
} as const;

/** Turns the call of a tool into a call of the gateway. The scratchpad is the request's or the key's, never an argument. */
export function callOf(
  operation: Operation,
  { bearer, headers }: RequestContext,
  input: Readonly<Record<string, unknown>>,
  meta: Readonly<Record<string, unknown>> = {},
): Call {
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const metaText = (name: keyof typeof metaFields): string | undefined => {
    const value = meta[metaFields[name]];
    return typeof value === 'string' ? value : undefined;
  };
  const wrong = Object.values(metaFields).find((name) => meta[name] !== undefined && typeof meta[name] !== 'string');
  return {
    operation,
    door: 'mcp',
    input,
    ...(wrong !== undefined && { unreadable: invalid([{ param: `_meta.${wrong}`, rule: 'must be a string' }]) }),
    principal: { bearer },
    correlationId: header('x-correlation-id'),
    idempotencyKey: metaText('idempotencyKey'),
    ifMatch: metaText('ifMatch'),
    scratchpad: header('palimpsest-scratchpad'),
    minPosition: metaText('minPosition') ?? header('palimpsest-min-position'),
  };
}
