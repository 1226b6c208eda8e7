import { Call } from './call.js';
import type { Connection } from './connection.js';
import { Following } from './following.js';
import { Lines } from './lines.js';
import { Listing } from './listing.js';
import { placesOf } from './names.js';
import { readArguments } from './request.js';
import { backoff, pause } from './retry.js';
import type { Entry } from './table.js';

type Method = (...args: unknown[]) => unknown;

/** Families within families, with a method for each operation. */
export interface Methods {
  [name: string]: Method | Methods;
}

/** The methods of a client: what a table of operations makes of a connection. */
export function methodsOf(table: readonly Entry[], connection: Connection): Methods {
  const methods: Methods = {};
  for (const entry of table) {
    const method = methodOf(entry, connection);
    for (const place of placesOf(entry.name, entry.formerName)) put(methods, place, method);
  }
  return methods;
}

function put(into: Methods, [name = '', ...rest]: readonly string[], method: Method): void {
  if (rest.length === 0) {
    into[name] = method;
    return;
  }
  const family = (into[name] ??= {});
  if (typeof family === 'function') throw new Error(`${name} is an operation and a family.`);
  put(family, rest, method);
}

function methodOf(entry: Entry, connection: Connection): Method {
  const kinds: Readonly<Record<Entry['kind'], Method>> = {
    command: (...args) => new Call(connection.ask(entry, readArguments(entry, args))),
    query: (...args) => new Call(connection.ask(entry, readArguments(entry, args))),
    list: (...args) => listing(entry, connection, args),
    stream: (...args) => {
      const given = readArguments(entry, args);
      return new Lines(() => connection.begin(entry, given));
    },
    events: (...args) => following(entry, connection, args),
  };
  return kinds[entry.kind];
}

function listing(entry: Entry, connection: Connection, args: readonly unknown[]): Listing<unknown> {
  const { fields, ...given } = readArguments(entry, args);
  return new Listing((cursor) =>
    connection.ask(entry, { ...given, fields: { ...fields, ...(cursor !== undefined && { cursor }) } }),
  );
}

/** Once it has begun it retries without a limit, unless the call sets one. Why: a follower waits for the next event anyway. */
function following(entry: Entry, connection: Connection, args: readonly unknown[]): Following<unknown> {
  const { fields, options, ...given } = readArguments(entry, args);
  return new Following(async (lastEventId, again) => {
    if (again > 0) await pause(backoff(again, connection.maxDelayMs), options.signal);
    const patient = lastEventId === undefined ? options : { ...options, retries: options.retries ?? Infinity };
    const from = lastEventId === undefined ? fields : { ...fields, lastEventId };
    return connection.begin(entry, { ...given, fields: from, options: patient });
  });
}
