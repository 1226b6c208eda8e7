import { randomUUID } from 'node:crypto';
import type { Operation } from '../../application/operation/operation.js';
import { refuse } from '../../domain/kernel/refusal.js';
import { errorObject } from '../statuses.js';
import type { Settings } from './settings.js';

/** What came back: the envelope as it came, or the lines of a stream. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly lines: AsyncIterable<Uint8Array> | undefined;
}

/** Calls an operation over REST: path, query and body as its declaration says. Commands get an idempotency key if they have none. */
export async function send(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  { url, key }: Settings,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const { idempotencyKey = operation.kind === 'command' ? randomUUID() : undefined, correlationId, ...fields } = input;
  const [method = '', template = ''] = operation.http.split(' ');
  const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(wordOf(fields[name]) || '-'));
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !inPath.includes(name)));
  const hasBody = method !== 'GET' && Object.keys(rest).length > 0;
  try {
    const response = await fetch(`${url}${path}${method === 'GET' ? queryOf(rest) : ''}`, {
      method,
      redirect: 'error', // The key goes to no other server.
      headers: {
        ...headers,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': wordOf(idempotencyKey) }),
        ...(correlationId !== undefined && { 'x-correlation-id': wordOf(correlationId) }),
        ...(hasBody && { 'content-type': 'application/json' }),
      },
      ...(hasBody && { body: JSON.stringify(rest) }),
    });
    const isStream = response.ok && ['stream', 'events'].includes(operation.kind) && response.body !== null;
    return {
      status: response.status,
      text: isStream ? '' : await response.text(),
      lines: isStream ? response.body : undefined,
    };
  } catch {
    return unreachable(url, wordOf(idempotencyKey));
  }
}

function queryOf(fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) query.append(name, wordOf(value));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

const wordOf = (value: unknown): string => {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** No answer: it is an error in the envelope's form too. What was sent may have been done: the same key makes asking again safe. */
function unreachable(url: string, idempotencyKey: string): Answer {
  const refusal = refuse('unavailable', `${url} does not answer.`, {
    ...(idempotencyKey !== '' && { facts: { idempotencyKey } }),
  });
  return { status: 503, text: JSON.stringify({ error: errorObject(refusal), correlationId: null }), lines: undefined };
}
