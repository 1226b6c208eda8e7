import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { Router, type RequestHandler, type Response } from 'express';
import type { Authenticate } from '../../application/access/authenticate.js';
import { describeFault } from '../../application/faults/describe-fault.js';
import type { Gateway } from '../../application/gateway/request.js';
import type { Operation } from '../../application/operation/operation.js';
import { invalid } from '../../application/kernel/validation.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { toolsOf } from '../../application/operation/tools.js';
import { refuse, type Issue } from '../../domain/kernel/refusal.js';
import { readBody } from '../http/body.js';
import { tokenOf } from '../rest/call.js';
import { correlationIdOf, refuseHere, refuseMethod } from '../http/fallbacks.js';
import { errorObject } from '../statuses.js';
import { onlyFor } from './origins.js';
import { withoutInput } from './protocol-errors.js';
import { serverFor } from './server.js';
import { offerOf } from './tools.js';

export interface McpNeeds {
  readonly operations: readonly Operation[];
  readonly gateway: Gateway;
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly version: string;
  /** Names under which clients reach this server, beside those of loopback. */
  readonly hosts: readonly string[];
}

const path = '/mcp';

/**
 * MCP door: streamable HTTP without sessions, so any process answers any request. Everything before the protocol (whose
 * request it is, whether it can be read) is as on the REST door; every call goes through the gateway. Throws when an
 * operation makes no tool.
 */
export function mcpDoor({ operations, gateway, authenticate, log, version, hosts }: McpNeeds): RequestHandler {
  const offers = new Map(toolsOf(operations).map((tool) => [tool.name, offerOf(tool)]));
  const router = Router({ caseSensitive: true, strict: true });
  router.all(path, (_request, response, next) => {
    response.locals['route'] = path;
    response.setHeader('Cache-Control', 'no-store'); // also of what is refused before it is a message
    next();
  });
  router.all(path, onlyFor(hosts));
  router.post(path, async (request, response) => {
    const { headers } = request;
    const token = tokenOf(headers.authorization, request.get('x-api-key'));
    const caller = await authenticate(token);
    if (!caller) return refuseHere(request, response, refuse('authentication_failed'));
    const body = await readBody(request);
    if (!body) return;
    const answered = (correlationId: string) => {
      response.locals['correlationId'] = correlationId;
      response.setHeader('X-Correlation-Id', correlationId);
    };
    const correlationId = correlationIdOf(request);
    answered(correlationId);
    if ('issue' in body) return refuseUnreadable(response, body.issue, correlationId);
    const serving = { offers, gateway, version, caller, told: { token, headers }, answered };
    let fault: Error | undefined;
    // It is told of refusals, too: those are the caller's, and the access log has them.
    const onerror = (error: Error) => void (fault = error);
    const handler = createMcpHandler(() => serverFor(serving), { onerror });
    const fetch: typeof handler.fetch = async (...asked) => withoutInput(await handler.fetch(...asked));
    await toNodeHandler({ fetch }, { onerror })(request, response, body.fields);
    // Nobody is left to be answered: that is not ours to mend.
    if (response.destroyed) return;
    if (response.statusCode >= 500) log.error({ ...describeFault(fault), route: path, correlationId }, 'door faulted');
  });
  router.all(path, refuseMethod('POST', path));
  return router;
}

/** A body that is no message has no id to answer to. */
function refuseUnreadable(response: Response, issue: Issue, correlationId: string): void {
  const { message, ...error } = errorObject(invalid([issue]));
  const data = { ...error, correlationId };
  response.status(400).json({ jsonrpc: '2.0', id: null, error: { code: -32700, message, data } });
}
