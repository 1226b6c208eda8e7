import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { Authenticate } from '../../application/access/authenticate.js';
import { describeFault } from '../../application/faults/describe-fault.js';
import type { Gateway } from '../../application/gateway/request.js';
import type { Operation } from '../../application/operation/operation.js';
import { invalid } from '../../application/kernel/validation.js';
import type { Logger } from '../../application/ports/telemetry.js';
import { toolsOf } from '../../application/operation/tools.js';
import { refuse, type Issue } from '../../domain/kernel/refusal.js';
import { bearerKeyOf } from '../http/bearer-key.js';
import { readBody } from '../http/body.js';
import { correlationIdOf } from '../http/correlation-id.js';
import type { Door } from '../http/door.js';
import { refuseHere, refuseMethod } from '../http/fallbacks.js';
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
 * MCP door: streamable HTTP without sessions, so any process answers any request. What comes before the protocol (whose
 * request it is, whether it can be read) is as on the REST door; every call goes through the gateway.
 * Fails when: an operation has a name that no tool can have.
 */
export function mcpDoor(needs: McpNeeds): Door {
  const router = Router({ caseSensitive: true, strict: true });
  router.all(path, (_request, response, next) => {
    response.locals['route'] = path;
    response.setHeader('Cache-Control', 'no-store'); // also of what is refused before it is a message
    next();
  });
  router.all(path, onlyFor(needs.hosts));
  router.post(path, answerMessages(needs));
  router.all(path, refuseMethod('POST', path));
  return () => ({ others: router });
}

function answerMessages(needs: McpNeeds): RequestHandler {
  const offers = new Map(toolsOf(needs.operations).map((tool) => [tool.name, offerOf(tool)]));
  const { gateway, authenticate, version } = needs;
  return async (request, response) => {
    const { headers } = request;
    const bearer = bearerKeyOf(headers.authorization, request.get('x-api-key'));
    const caller = await authenticate(bearer);
    if (!caller) return refuseHere(request, response, refuse('authentication_failed'));
    const body = await readBody(request);
    if (!body) return;
    const correlationId = correlationIdOf(request);
    const answered = (id: string) => {
      response.locals['correlationId'] = id;
      response.setHeader('X-Correlation-Id', id);
    };
    answered(correlationId);
    if ('issue' in body) return refuseUnreadable(response, body.issue, correlationId);
    const server = () => serverFor({ offers, gateway, version, caller, context: { bearer, headers }, answered });
    const fault = await speakProtocol(server, request, response, body.fields);
    // A client that has left is not answered, which is no fault.
    if (response.destroyed || response.statusCode < 500) return;
    needs.log.error({ ...describeFault(fault), route: path, correlationId }, 'door faulted');
  };
}

/** Answers one message. Returns the last error that the library reported: refusals are among them, and are no faults. */
async function speakProtocol(
  server: () => McpServer,
  request: Request,
  response: Response,
  message: unknown,
): Promise<Error | undefined> {
  let reported: Error | undefined;
  const onerror = (error: Error) => void (reported = error);
  const handler = createMcpHandler(server, { onerror });
  const fetch: typeof handler.fetch = async (...asked) => withoutInput(await handler.fetch(...asked));
  await toNodeHandler({ fetch }, { onerror })(request, response, message);
  return reported;
}

/** A body that is no message has no id to answer to. */
function refuseUnreadable(response: Response, issue: Issue, correlationId: string): void {
  const { message, ...error } = errorObject(invalid([issue]));
  const data = { ...error, correlationId };
  response.status(400).json({ jsonrpc: '2.0', id: null, error: { code: -32700, message, data } });
}
