import type { RequestHandler } from 'express';
import type { Logger } from '../../application/ports/telemetry.js';

/** One line for each request when it is over: the route as declared, never the URL, whose words are the caller's. */
export const accessLog =
  (log: Logger): RequestHandler =>
  (request, response, next) => {
    const begun = performance.now();
    response.on('close', () => {
      // Set by whichever handler answered.
      const { route = '(none)', correlationId } = response.locals as { route?: string; correlationId?: string };
      const ms = Math.round((performance.now() - begun) * 10) / 10;
      const cut = response.writableFinished ? {} : { cut: true };
      log.info({ method: request.method, route, status: response.statusCode, ms, correlationId, ...cut }, 'request');
    });
    next();
  };
