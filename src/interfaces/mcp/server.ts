import { McpServer } from '@modelcontextprotocol/server';
import type { Caller } from '../../application/access/caller.js';
import type { Gateway } from '../../application/gateway/request.js';
import { callOf, type RequestContext } from './call.js';
import { unknown } from './protocol-errors.js';
import { resultOf } from './result.js';
import { pageOfTools, type Offer } from './tools.js';

export interface Serving {
  readonly offers: ReadonlyMap<string, Offer>;
  readonly gateway: Gateway;
  readonly version: string;
  readonly caller: Caller;
  readonly context: RequestContext;
  /** Called with the correlation id of each call. */
  readonly answered: (correlationId: string) => void;
}

const instructions = [
  'Shared scratchpads for agents, and what stands around them.',
  'read_scratchpad, update_scratchpad and append_scratchpad act on the one scratchpad that the key is bound to or that the',
  'header Palimpsest-Scratchpad names; they take no id. Lists answer {data, page}: pass page.nextCursor as `cursor` to go on.',
  'An error has a code; `retryable` says whether the same call may succeed later.',
].join('\n');

/** A server for one request. It holds no rule: it lists what is open to the caller, and hands calls to the gateway. */
export function serverFor({ offers, gateway, version, caller, context, answered }: Serving): McpServer {
  const mcp = new McpServer({ name: 'palimpsest', version }, { instructions });
  const { server } = mcp;
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler('tools/list', ({ params }) => {
    const page = pageOfTools([...offers.values()], caller, params?.cursor);
    if (!page) throw unknown('cursor');
    return page;
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const offer = offers.get(params.name);
    if (!offer) throw unknown('tool');
    const reply = await gateway(callOf(offer.operation, context, params.arguments ?? {}, mcpReq._meta));
    answered(reply.correlationId);
    return resultOf(offer, reply);
  });
  return mcp;
}
