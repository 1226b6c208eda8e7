import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { describeFault } from '../../application/faults/describe-fault.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { refuse, type Refusal } from '../../domain/kernel/refusal.js';
import { correlationIdOf } from './correlation-id.js';
import { sendRefusal } from './reply.js';

/** No route has this path. */
export const refuseUnknown: RequestHandler = (request, response) => {
  refuseHere(request, response, refuse('not_found'));
};

/** The path is known, the method is not. */
export const refuseMethod =
  (allowed: string, path: string): RequestHandler =>
  (request, response) => {
    response.locals['route'] = path;
    response.setHeader('Allow', allowed);
    refuseHere(request, response, refuse('not_found'), 405);
  };

/**
 * While the server ends, requests that still arrive on open connections are sent elsewhere. No operation is reached, so
 * this is no answer of one: it is given where an operation's own codes are closed, too.
 */
export const refuseWhile =
  (draining: () => boolean): RequestHandler =>
  (request, response, next) => {
    if (!draining() || !/^\/(v1\/|mcp)/.test(request.url)) return next();
    response.setHeader('Connection', 'close');
    refuseHere(request, response, refuse('unavailable', 'The server is stopping. It is safe to try again.'));
  };

/** The last word on what was thrown outside the gateway. */
export const answerFault =
  (log: Logger) =>
  (fault: unknown, request: Request, response: Response, _next: NextFunction): void => {
    if (response.headersSent) response.destroy();
    // A path that cannot be decoded names nothing.
    else if (fault instanceof URIError) return refuseHere(request, response, refuse('not_found'));
    else refuseHere(request, response, refuse('internal_fault'));
    const { route, correlationId } = response.locals;
    log.error({ ...describeFault(fault), route: String(route), correlationId: String(correlationId) }, 'door faulted');
  };

/** A refusal that never reaches the gateway, which otherwise finds the correlation id. */
export function refuseHere(request: Request, response: Response, refusal: Refusal, status?: number): void {
  const correlationId = correlationIdOf(request);
  response.locals['correlationId'] = correlationId;
  sendRefusal(request, response, refusal, correlationId, status);
}
