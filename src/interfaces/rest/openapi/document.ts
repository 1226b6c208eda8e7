import { inputSchema, outputSchema, pageSchema, type Schema } from '../../../application/operation/json-schema.js';
import type { Operation } from '../../../application/operation/operation.js';
import { codesOf } from '../../../application/operation/refusal-codes.js';
import * as common from './components.js';
import { sampleOf } from './samples.js';

/** The OpenAPI 3.1 document of a registry. */
export function openApi(operations: readonly Operation[], version: string): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  let schemas: Record<string, unknown> = { ...common.errorSchemas };
  for (const operation of operations) {
    const described = describe(operation);
    paths[described.path] = { ...paths[described.path], [described.method]: described.operation };
    schemas = { ...schemas, ...described.schemas };
  }
  const { description, securitySchemes, parameters, headers, responses } = common;
  return {
    openapi: '3.1.0',
    info: { title: 'Palimpsest', version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(operations.map(familyOf))].map((name) => ({ name })),
    paths,
    components: { securitySchemes, parameters, headers, responses, schemas },
  };
}

const familyOf = ({ name, tool }: Operation): string => (tool ? 'tools' : (name.split('.')[0] ?? name));

/** `scratchpad.entry.append` → `ScratchpadEntryAppend`. */
const pascal = (name: string): string =>
  name.replaceAll(/(^|[._])(\w)/g, (_all, _dot, letter: string) => letter.toUpperCase());

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

function describe(operation: Operation) {
  const [method = '', path = ''] = operation.http.split(' ');
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const input = inputSchema(operation, named);
  const output = outputSchema(operation);
  const inputName = `${pascal(operation.name)}Input`;
  const outputName = `${pascal(operation.name)}Output`;
  const hasBody = method !== 'GET';
  return {
    path,
    method: method.toLowerCase(),
    schemas: { ...(hasBody && lifted(inputName, input)), ...lifted(outputName, output) },
    operation: {
      operationId: operation.name.replaceAll('.', '_'),
      summary: operation.summary,
      description: needsOf(operation),
      tags: [familyOf(operation)],
      parameters: [
        ...pathParameters(operation, named),
        ...(hasBody ? [] : queryParameters(operation, input)),
        ...headersOf(operation),
      ],
      ...(hasBody && { requestBody: bodyOf(input, inputName) }),
      responses: { ...successOf(operation, output, outputName), ...refusalsOf(operation) },
    },
  };
}

const needsOf = ({ scope, roles }: Operation): string =>
  `Needs the scope \`${scope}\`${roles ? ` and one of the roles ${roles.map((role) => `\`${role}\``).join(', ')}` : ''}.`;

function pathParameters(operation: Operation, named: readonly string[]): readonly unknown[] {
  const { properties = {} } = inputSchema(operation, []);
  return named.map((name) => {
    const schema = properties[name];
    if (schema === undefined) throw new Error(`${operation.name} has no field ${name}, which its path names.`);
    return { name, in: 'path', required: true, schema, example: sampleOf(schema, name, true) };
  });
}

/** The correlation id is a header, unless an operation has a field of that name with a meaning of its own. */
const queryParameters = ({ input }: Operation, { properties = {}, required = [] }: Schema): readonly unknown[] =>
  Object.entries(properties)
    .filter(([name]) => name !== 'correlationId' || name in input.shape)
    .map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));

function headersOf({ kind, etag, tool }: Operation): readonly unknown[] {
  const names =
    kind === 'command'
      ? ['correlationId', 'idempotencyKey', 'prefer', ...(etag ? ['ifMatch'] : [])]
      : ['correlationId', 'minPosition', ...(kind === 'events' ? ['lastEventId'] : [])];
  return [...names, ...(tool ? ['scratchpad'] : [])].map((name) => ref('parameters', name));
}

const bodyOf = (input: Schema, name: string) => ({
  required: (input.required ?? []).length > 0,
  content: { 'application/json': { schema: ref('schemas', name), example: sampleOf(input, 'body', false) } },
});

function successOf(operation: Operation, output: Schema, name: string): Readonly<Record<string, unknown>> {
  const isCommand = operation.kind === 'command';
  const headers = {
    'X-Correlation-Id': ref('headers', 'correlationId'),
    ...(isCommand && { 'Palimpsest-Position': ref('headers', 'position') }),
    ...(isCommand && { 'Idempotency-Replayed': ref('headers', 'replayed') }),
    ...(operation.etag && { ETag: ref('headers', 'etag') }),
  };
  const item = sampleOf(output, 'data', true);
  if (operation.kind === 'stream') {
    const content = { 'application/x-ndjson': { schema: ref('schemas', name), example: item } };
    return { 200: { description: 'One JSON object on each line.', headers, content } };
  }
  if (operation.kind === 'events') {
    const content = { 'text/event-stream': { schema: ref('schemas', name), example: eventBlock(item) } };
    return { 200: { description: eventsDescription, headers, content } };
  }
  const isList = operation.kind === 'list';
  const data = isList ? { type: 'array', items: ref('schemas', name) } : ref('schemas', name);
  const schema = {
    type: 'object',
    properties: {
      data,
      correlationId: { type: 'string', format: 'uuid' },
      ...(isList && { page: pageSchema }),
      ...(isCommand && { position: { type: 'string' }, replayed: { type: 'boolean', const: true } }),
    },
    required: ['data', 'correlationId', ...(isList ? ['page'] : [])],
  };
  const example = {
    data: isList ? [item] : item,
    correlationId: '0199a7c2-5d3e-7f10-8a4b-6c2d9e8f1a35',
    ...(isList && { page: { nextCursor: null } }),
  };
  const content = { 'application/json': { schema, example } };
  return { [operation.creates ? 201 : 200]: { description: operation.summary, headers, content } };
}

const eventsDescription = [
  'Server-sent events, each with `id`, `event` and `data` (JSON) as the schema says. The first block has only an `id`:',
  'the position that they begin after. Send the last `id` as `Last-Event-ID` to go on, at any process, without gap or',
  'repeat. `event: done` with a `reason` is the last: `deleted`, `authorization_ended`, `server_stopping`, `unavailable`.',
  'After the last two, connect again.',
].join('\n');

function eventBlock(item: unknown): string {
  // The output of an events operation has these members.
  const { id, event, data } = item as { readonly id: string; readonly event: string; readonly data: unknown };
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

const refusalsOf = (operation: Operation): Readonly<Record<string, unknown>> =>
  Object.fromEntries([...codesOf(operation)].map((code) => [common.httpOf(code), ref('responses', code)]));

/** Moves the definitions inside a schema to the document's components, where their references must point. */
function lifted(name: string, schema: Schema): Readonly<Record<string, Schema>> {
  const { $defs = {}, ...main } = schema;
  const all = { [name]: main, ...Object.fromEntries(Object.entries($defs).map(([key, def]) => [name + key, def])) };
  const text = JSON.stringify(all).replaceAll('"#/$defs/', `"#/components/schemas/${name}`);
  // The same schemas, with other references.
  return JSON.parse(text) as Record<string, Schema>;
}
