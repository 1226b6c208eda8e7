import { maxDepth, maxIssues } from '../../../application/kernel/validation.js';
import { refusalCodes, refuse, type RefusalCode } from '../../../domain/kernel/refusal.js';
import { errorObject, retryAfter, statuses } from '../../statuses.js';
import { maxBodyBytes } from '../../http/body.js';
import { maxElements } from '../../http/json-scan.js';
import { maxHeaderBytes } from '../../http/limits.js';

const uuid = { type: 'string', format: 'uuid' } as const;
const correlationId = '0199a7c2-5d3e-7f10-8a4b-6c2d9e8f1a35';

export const description = [
  'Every answer carries `X-Correlation-Id`. Ownership comes from the key and from nothing else.',
  `Limits: a body has at most ${maxBodyBytes} bytes (also when inflated), ${maxDepth} levels, ${maxElements} elements`,
  'in an array, no name twice, and numbers up to 9007199254740991; the request line and headers together have at most',
  `${maxHeaderBytes} bytes. Unknown fields are refused. A list page has at most 100 items. Refusals name at most`,
  `${maxIssues} issues. Send \`Accept: application/problem+json\` to get refusals as problem details (RFC 9457).`,
  'A server that is stopping answers every path below `/v1` with `unavailable`, before any operation is reached: ask again.',
].join('\n');

export const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer plm_…`.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same API key in a header of its own.' },
};

const header = (name: string, description: string, schema: unknown) => ({ name, in: 'header', description, schema });

/** Headers that requests may carry. */
export const parameters = {
  correlationId: header('X-Correlation-Id', 'Names this request in the reply, in events and in logs.', uuid),
  idempotencyKey: header(
    'Idempotency-Key',
    'The same key makes a retry harmless: the recorded outcome is answered again.',
    uuid,
  ),
  ifMatch: header('If-Match', 'Only if this is still the revision; otherwise `conflict`.', {
    type: 'string',
    pattern: '^"r\\d{1,15}"$',
    examples: ['"r7"'],
  }),
  minPosition: header('Palimpsest-Min-Position', 'Wait up to 2 s for the read models to reach this position.', {
    type: 'string',
    pattern: '^\\d{1,19}$',
  }),
  lastEventId: header('Last-Event-ID', 'Go on after this event: the `id` of the last one that came. Also a field.', {
    type: 'string',
    pattern: '^\\d{1,19}$',
  }),
  scratchpad: header(
    'Palimpsest-Scratchpad',
    'The scratchpad that the tool acts on; not needed with a key that is bound to one.',
    { type: 'string' },
  ),
  prefer: header('Prefer', 'Answer without waiting until the read models show the change.', {
    type: 'string',
    enum: ['respond-async'],
  }),
};

/** Headers that replies carry. */
export const headers = {
  correlationId: { description: 'The correlation id that was sent, or a new one.', required: true, schema: uuid },
  position: { description: 'Position in the log that this command reached.', schema: { type: 'string' } },
  replayed: { description: 'An earlier request with this idempotency key did it.', schema: { const: 'true' } },
  etag: { description: 'The revision, for `If-Match`.', schema: { type: 'string', examples: ['"r7"'] } },
  retryAfter: { description: 'Seconds after which trying again makes sense.', schema: { type: 'integer' } },
};

const issue = {
  type: 'object',
  properties: { param: { type: 'string' }, rule: { type: 'string' } },
  required: ['param', 'rule'],
};

const errorProperties = {
  code: { type: 'string', enum: refusalCodes },
  message: { type: 'string' },
  reason: { type: 'string', description: 'Narrows the code, for programs.' },
  param: { type: 'string', description: 'The field or header that is wrong.' },
  retryable: { type: 'boolean', description: 'The same request may succeed later.' },
  issues: { type: 'array', maxItems: maxIssues, items: issue },
};

const errorSchema = {
  type: 'object',
  properties: {
    error: { type: 'object', properties: errorProperties, required: ['code', 'message', 'retryable'] },
    correlationId: uuid,
  },
  required: ['error', 'correlationId'],
};

const problemSchema = {
  type: 'object',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    ...errorProperties,
    correlationId: uuid,
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'message', 'retryable', 'correlationId'],
};

export const errorSchemas = { Error: errorSchema, Problem: problemSchema };

/** The answer of each refusal, by its code. */
export const responses = Object.fromEntries(refusalCodes.map((code) => [code, responseOf(code)]));

function responseOf(code: RefusalCode): unknown {
  const refusal = refuse(code);
  return {
    description: refusal.message,
    headers: {
      'X-Correlation-Id': { $ref: '#/components/headers/correlationId' },
      ...(retryAfter(refusal) !== undefined && { 'Retry-After': { $ref: '#/components/headers/retryAfter' } }),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: { error: errorObject(refusal), correlationId },
      },
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
  };
}

export const httpOf = (code: RefusalCode): string => String(statuses[code].http);
