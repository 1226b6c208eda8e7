import type { Request } from 'express';
import type { Request as Call } from '../../application/gateway/request.js';
import type { Operation } from '../../application/operation/operation.js';
import { invalid } from '../../application/kernel/validation.js';
import { bearerKeyOf } from '../http/bearer-key.js';
import { hasBody, readBody, type Body } from '../http/body.js';
import { queryTypesOf, readQuery } from './query.js';

/** Turns requests to one operation into calls of the gateway. Undefined when the client went away meanwhile. */
export function callsOf(operation: Operation): (request: Request) => Promise<Call | undefined> {
  const named = [...operation.http.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const types = queryTypesOf(operation.input);
  const reads = operation.http.startsWith('GET ');

  const readFields = async (request: Request): Promise<Body | undefined> => {
    const query = readQuery(request.url, types);
    if ('issue' in query) return query;
    if (reads) return hasBody(request) ? { issue: { param: 'body', rule: 'must be absent' } } : query;
    const isEmpty = Object.keys(query.fields).length === 0;
    return isEmpty ? readBody(request) : { issue: { param: 'query', rule: 'fields belong in the body' } };
  };

  return async (request) => {
    const read = await readFields(request);
    return read && callOf(operation, request, withPath(read, request, named));
  };
}

/** The names of the path join the fields; one that was also sent as a field is refused, so that neither wins. */
function withPath(read: Body, { params }: Request, named: readonly string[]): Body {
  if ('issue' in read) return read;
  for (const name of named) {
    if (Object.hasOwn(read.fields, name)) return { issue: { param: name, rule: 'belongs in the path' } };
    read.fields[name] = params[name];
  }
  return read;
}

function callOf(operation: Operation, { headers }: Request, read: Body): Call {
  const text = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    operation,
    door: 'rest',
    ...('issue' in read ? { input: {}, unreadable: invalid([read.issue]) } : { input: read.fields }),
    principal: { bearer: bearerKeyOf(headers.authorization, text('x-api-key')) },
    correlationId: text('x-correlation-id'),
    // A header that was sent twice arrives as "a, b", which is no uuid, revision or key.
    idempotencyKey: text('idempotency-key'),
    ifMatch: headers['if-match'],
    scratchpad: text('palimpsest-scratchpad'),
    lastEventId: text('last-event-id'),
    minPosition: text('palimpsest-min-position'),
    respondAsync: /(^|,)\s*respond-async\s*(,|;|$)/i.test(text('prefer') ?? ''),
  };
}
