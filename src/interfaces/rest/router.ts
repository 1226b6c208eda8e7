import { Router, type RequestHandler } from 'express';
import type { Gateway } from '../../application/gateway/request.js';
import { LiveStream } from '../../application/gateway/live-stream.js';
import type { Operation } from '../../application/operation/operation.js';
import { isRefusal } from '../../domain/kernel/refusal.js';
import { callsOf } from './call.js';
import { sendEvents } from '../http/server-sent-events.js';
import { refuseMethod } from '../http/fallbacks.js';
import { sendLines } from '../http/ndjson.js';
import { sendRefusal, sendSuccess, successHeaders } from '../http/reply.js';

/**
 * REST door: HTTP in, gateway, HTTP out. A rule written here is a rule the other doors miss. `ending` is aborted
 * when the process ends: answers without an end of their own end then.
 */
export function restRouter(operations: readonly Operation[], gateway: Gateway, ending: AbortSignal): RequestHandler {
  const families = new Map<string, Router>();
  for (const [path, methods] of byPath(operations)) {
    const router = families.get(familyOf(path)) ?? Router({ caseSensitive: true, strict: true });
    families.set(familyOf(path), router);
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    const allowed = [...methods.keys()].join(', ');
    // Express would run a GET route for HEAD, which then reads, charges and streams for nobody.
    route.head(refuseMethod(allowed, path));
    for (const [method, operation] of methods) {
      // The declaration's type knows five methods, all of which a route has by their lower-case name.
      route[method.toLowerCase() as 'get'](answer(operation, path, gateway, ending));
    }
    route.all(refuseMethod(allowed, path));
  }
  // A router asks its routes one after the other, so each family has its own.
  return (request, response, next) => {
    const router = families.get(familyOf(request.url));
    if (router) router(request, response, next);
    else next();
  };
}

/** `threads` of `/v1/threads/{threadId}`. */
const familyOf = (path: string): string => /^\/v1\/([^/?]*)/.exec(path)?.[1] ?? '';

/** Operations by path and method, fixed segments before named ones, so that `/agents/enroll` is not read as an id. */
function byPath(operations: readonly Operation[]): readonly (readonly [string, ReadonlyMap<string, Operation>])[] {
  const paths = new Map<string, Map<string, Operation>>();
  for (const operation of operations) {
    const [method = '', path = ''] = operation.http.split(' ');
    const methods = paths.get(path) ?? new Map<string, Operation>();
    const other = methods.get(method);
    if (other) throw new Error(`${operation.name} and ${other.name} have the same route.`);
    paths.set(path, methods.set(method, operation));
  }
  return [...paths].sort(([a], [b]) => (a.replaceAll('{', '~') < b.replaceAll('{', '~') ? -1 : 1));
}

function answer(operation: Operation, path: string, gateway: Gateway, ending: AbortSignal): RequestHandler {
  const callOf = callsOf(operation);
  return async (request, response) => {
    response.locals['route'] = path;
    const call = await callOf(request);
    if (!call) return;
    const { correlationId, result } = await gateway(call);
    response.locals['correlationId'] = correlationId;
    if (isRefusal(result)) sendRefusal(request, response, result, correlationId);
    else if (result.data instanceof LiveStream)
      await sendEvents(response, successHeaders(result, correlationId), result.data, ending);
    else if (operation.kind !== 'stream') sendSuccess(response, operation, result, correlationId);
    // A stream operation's type makes it answer an async iterable.
    else await sendLines(response, successHeaders(result, correlationId), result.data as AsyncIterable<unknown>);
  };
}
