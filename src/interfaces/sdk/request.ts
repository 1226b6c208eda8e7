import type { CallOptions, CommandOptions, ReadOptions } from './options.js';
import type { Entry } from './table.js';

/** A call as it goes over the wire, the same at every attempt. Who calls is not in it. */
export interface Sent {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly correlationId: string;
  /** Undefined for what changes nothing. */
  readonly idempotencyKey: string | undefined;
}

/** What a method was called with: ids of its path, fields of its input, options. */
export interface Given {
  readonly ids: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
  readonly options: CallOptions & ReadOptions & CommandOptions;
}

/** Takes a method's arguments apart: ids in the order of the path, then the input, if there is any, then options. */
export function readArguments(entry: Entry, args: readonly unknown[]): Given {
  const count = [...entry.http.matchAll(/\{\w+\}/g)].length;
  const ids = args.slice(0, count);
  if (ids.length < count || !ids.every((id) => typeof id === 'string')) {
    throw new TypeError(`${entry.name} takes ${count === 1 ? 'an id' : `${count} ids`} first.`);
  }
  const [input, options] = entry.fields.length > 0 ? args.slice(count) : [{}, args[count]];
  const text = textField(entry);
  if (text !== undefined && typeof input !== 'string') throw new TypeError(`${entry.name} takes a text after its id.`);
  return {
    ids,
    fields: text === undefined ? objectOf(entry, input) : { [text]: input },
    options: objectOf(entry, options),
  };
}

/** What puts one thing in its place takes the thing itself: `content.set(id, text)`. */
const textField = ({ http, fields }: Entry): string | undefined =>
  http.startsWith('PUT ') && fields.length === 1 ? fields[0] : undefined;

function objectOf({ name }: Entry, value: unknown = {}): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${name} takes its input and options as objects.`);
  return { ...value };
}

/** Writes a call down. `position` is the one that a read is to wait for. */
export function requestOf(entry: Entry, { ids, fields, options }: Given, position: string | undefined): Sent {
  const [method = '', template = ''] = entry.http.split(' ');
  const remaining = [...ids];
  const path = template.replace(/\{\w+\}/g, () => segmentOf(remaining.shift() ?? ''));
  const isCommand = entry.kind === 'command';
  const correlationId = options.correlationId ?? crypto.randomUUID();
  const idempotencyKey = isCommand ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const minPosition = isCommand || options.minPosition === null ? undefined : (options.minPosition ?? position);
  const body = method === 'GET' || Object.keys(fields).length === 0 ? undefined : JSON.stringify(fields);
  return {
    method,
    body,
    correlationId,
    idempotencyKey,
    path: method === 'GET' ? `${path}${queryOf(fields)}` : path,
    headers: present({
      'x-correlation-id': correlationId,
      'idempotency-key': idempotencyKey,
      'content-type': body === undefined ? undefined : 'application/json',
      'if-match': typeof options.ifMatch === 'number' ? `"r${options.ifMatch}"` : options.ifMatch,
      'palimpsest-min-position': minPosition,
      'palimpsest-scratchpad': options.scratchpad,
      prefer: options.respondAsync ? 'respond-async' : undefined,
    }),
  };
}

/** No id is "." or "..", which would lead to another path even when they are escaped; "-" is none either. */
const segmentOf = (id: string): string => (/^\.{0,2}$/.test(id) ? '-' : encodeURIComponent(id));

function queryOf(fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

const present = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
