import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { Caller } from '../../application/access/caller.js';
import { isOpenTo } from '../../application/operation/authorization.js';
import {
  inputSchema,
  jsonSchema,
  outputSchema,
  pageSchema,
  type Schema,
} from '../../application/operation/json-schema.js';
import type { Operation } from '../../application/operation/operation.js';
import type { Tool } from '../../application/operation/tools.js';

/** A tool and how it is listed. */
export interface Offer extends Tool {
  readonly listed: ListedTool;
  /** Its answer is no object and stands in one, as `{data, page?}`: the protocol's structured content is an object. */
  readonly wraps: boolean;
}

/** Tools on one page of a listing. */
export const toolsOnAPage = 100;

export function offerOf(tool: Tool): Offer {
  const { name, operation, hints } = tool;
  const answer = outputSchema(operation);
  const wraps = operation.kind === 'list' || answer.type !== 'object';
  return {
    ...tool,
    wraps,
    listed: {
      name,
      description: operation.summary,
      inputSchema: asListed(argumentsOf(operation)),
      outputSchema: asListed(wraps ? wrapped(answer, operation.kind === 'list') : answer),
      annotations: {
        readOnlyHint: hints.readOnly,
        destructiveHint: hints.destructive,
        idempotentHint: hints.idempotent,
      },
      ...(operation.tool && { _meta: { 'palimpsest/tool': operation.tool } }),
    },
  };
}

/** A page of the tools that are open to a caller; undefined for a cursor that is of no listing. */
export function pageOfTools(
  offers: readonly Offer[],
  caller: Caller,
  cursor: string | undefined,
): { readonly tools: ListedTool[]; readonly nextCursor?: string } | undefined {
  const open = offers.filter(({ operation }) => isOpenTo(caller, operation));
  const begin = cursor === undefined ? 0 : Number(/^after-(\d{1,4})$/.exec(cursor)?.[1]);
  if (!(begin < open.length || begin === 0)) return undefined;
  const end = begin + toolsOnAPage;
  return {
    tools: open.slice(begin, end).map(({ listed }) => listed),
    ...(end < open.length && { nextCursor: `after-${end}` }),
  };
}

/**
 * What a model fills in. A correlation id is its runtime's to choose (`X-Correlation-Id`), and the scratchpad's tools show
 * nothing but what they are for: idempotency keys for them go into `_meta`.
 */
const argumentsOf = (operation: Operation): Schema =>
  operation.tool
    ? jsonSchema(operation.input, 'input')
    : inputSchema(operation, 'correlationId' in operation.input.shape ? [] : ['correlationId']);

/** References inside a schema are to its own root, so its definitions move up with it. */
const wrapped = ({ $defs, ...answer }: Schema, isList: boolean): Schema => ({
  type: 'object',
  properties: { data: isList ? { type: 'array', items: answer } : answer, ...(isList && { page: pageSchema }) },
  required: ['data', ...(isList ? ['page'] : [])],
  ...($defs && { $defs }),
});

/** What zod writes is JSON of type object, which is all that the protocol's own type asks for. */
const asListed = (schema: Schema) => schema as ListedTool['inputSchema'];
