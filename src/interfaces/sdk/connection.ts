import { envelopeIn, errorIn, type Envelope } from './envelope.js';
import { PalimpsestError } from './errors.js';
import type { PalimpsestOptions } from './options.js';
import { requestOf, type Given, type Sent } from './request.js';
import { withRetries } from './retry.js';
import { settingsOf } from './settings.js';
import type { Entry } from './table.js';
import { watchFor, type Watch } from './watch.js';

/** A success and the entity tag that came with it. */
export interface Asked extends Envelope {
  readonly etag: string | undefined;
}

/** The server, as the methods of the client see it. */
export interface Connection {
  readonly url: string;
  readonly maxDelayMs: number;
  /** The highest position that an answer has reported. */
  position(): string | undefined;
  /** Calls an operation, again if need be. */
  ask(entry: Entry, given: Given): Promise<Asked>;
  /** Begins an answer without an end, again if need be; then it is handed on piece by piece, and cut when nothing comes. */
  begin(entry: Entry, given: Given): Promise<AsyncGenerator<string>>;
}

/** A server without news sends a comment three times within this time. */
const quietMs = 30_000;

/** Opens nothing yet: each call brings its own connection, or finds one that `fetch` has kept. */
export function connect(options: PalimpsestOptions): Connection {
  const { authorization, url, timeoutMs, readYourWrites, ...policy } = settingsOf(options);
  let position = options.position;

  const policyFor = ({ options: { retries = policy.retries } }: Given) => ({ ...policy, retries });
  const written = (entry: Entry, given: Given) => requestOf(entry, given, readYourWrites ? position : undefined);

  const fetched = async (sent: Sent, given: Given, watch: Watch): Promise<Response> => {
    const request = new Request(`${url}${sent.path}`, {
      method: sent.method,
      headers: { ...sent.headers, authorization },
      redirect: 'manual', // The key goes to no other server.
      signal: watch.signal,
      ...(sent.body !== undefined && { body: sent.body }),
    });
    watch.expect(given.options.timeoutMs ?? timeoutMs);
    const response = await guarded(fetch(request), sent, given, watch);
    if (!response.ok) throw await guarded(errorIn(response, sent), sent, given, watch);
    return response;
  };

  /** What breaks is the caller's own wish, or a connection that failed. */
  const guarded = async <Value>(work: Promise<Value>, sent: Sent, given: Given, watch: Watch): Promise<Value> => {
    try {
      return await work;
    } catch (fault) {
      if (fault instanceof PalimpsestError) throw fault;
      given.options.signal?.throwIfAborted();
      throw failure(url, fault, watch.late(), sent);
    }
  };

  async function* piecesOf(response: Response, sent: Sent, given: Given, watch: Watch): AsyncGenerator<string> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        watch.expect(given.options.timeoutMs ?? Math.max(timeoutMs, quietMs));
        const read = await guarded(reader?.read() ?? Promise.resolve(undefined), sent, given, watch);
        watch.rest();
        if (!read || read.done) return;
        yield read.value;
      }
    } finally {
      watch.end();
      await reader?.cancel().catch(() => undefined); // It may have failed already.
    }
  }

  return {
    url,
    maxDelayMs: policy.maxDelayMs,
    position: () => position,
    ask(entry, given) {
      const sent = written(entry, given);
      const attempt = async (): Promise<Asked> => {
        const watch = watchFor(given.options.signal);
        try {
          const response = await fetched(sent, given, watch);
          const envelope = await guarded(envelopeIn(response, sent), sent, given, watch);
          position = later(position, envelope.position);
          return { ...envelope, etag: response.headers.get('etag') ?? undefined };
        } finally {
          watch.end();
        }
      };
      return withRetries(attempt, policyFor(given), given.options.signal);
    },
    begin(entry, given) {
      const sent = written(entry, given);
      const attempt = async (): Promise<AsyncGenerator<string>> => {
        const watch = watchFor(given.options.signal);
        try {
          return piecesOf(await fetched(sent, given, watch), sent, given, watch);
        } catch (fault) {
          watch.end();
          throw fault;
        }
      };
      return withRetries(attempt, policyFor(given), given.options.signal);
    },
  };
}

function later(known: string | undefined, answered: string | undefined): string | undefined {
  if (known === undefined || answered === undefined) return answered ?? known;
  return BigInt(answered) > BigInt(known) ? answered : known;
}

function failure(
  url: string,
  fault: unknown,
  isLate: boolean,
  { correlationId, idempotencyKey }: Sent,
): PalimpsestError {
  const { cause } = fault as { readonly cause?: { readonly code?: unknown } }; // As fetch throws: a TypeError with its cause.
  const known = typeof cause?.code === 'string' ? cause.code : undefined;
  const message = isLate
    ? `${url} did not answer in time.`
    : `The connection to ${url} failed${known ? ` (${known})` : ''}.`;
  const reason = isLate ? 'timeout' : known;
  return new PalimpsestError(message, {
    code: 'connection_failed',
    retryable: true,
    reason,
    correlationId,
    idempotencyKey,
  });
}
