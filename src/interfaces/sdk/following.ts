import { PalimpsestError } from './errors.js';
import { partsOf } from './lines.js';

/** Begins to follow after an event, or from now on; `again` counts the cuts since the last event. */
export type Follow = (after: string | undefined, again: number) => Promise<AsyncIterable<string>>;

/** Reasons of an end after which more events will come: a client that asks again goes on where this ended. */
const passing: readonly unknown[] = ['server_stopping', 'unavailable'];

/**
 * Events as they happen, each once. What cuts the connection, or stops the server, is not seen: it connects again and goes
 * on after the last event, for as long as it takes unless the call's `retries` says otherwise. It ends when there can be no more
 * (the scratchpad was deleted, the key revoked), with `signal`, and when the loop is left. A client that was
 * cut off when the scratchpad was deleted meets `not_found`.
 *
 * @example
 * for await (const { event, data } of client.scratchpads.events(id)) console.log(event, data);
 */
export class Following<Event> implements AsyncIterable<Event> {
  readonly #follow: Follow;
  #lastEventId: string | undefined;
  #endReason: string | undefined;

  /** @internal The client makes it. */
  constructor(follow: Follow) {
    this.#follow = follow;
  }

  /** Where it stands in the log: give it as `lastEventId` to another call to go on from here. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** Why there were no more events, e.g. `deleted`, `authorization_ended`; undefined while there may be. */
  get endReason(): string | undefined {
    return this.#endReason;
  }

  /** Goes on where an earlier iteration ended. Throws `PalimpsestError`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    for (let again = 0; this.#endReason === undefined; again += 1) {
      const pieces = await this.#follow(this.#lastEventId, again);
      try {
        for await (const event of this.#eventsIn(pieces)) {
          again = 0;
          yield event;
        }
      } catch (fault) {
        if (!(fault instanceof PalimpsestError) || fault.code !== 'connection_failed') throw fault;
      }
    }
  }

  async *#eventsIn(pieces: AsyncIterable<string>): AsyncGenerator<Event, void> {
    for await (const block of partsOf(pieces, '\n\n')) {
      const { id, event, data } = fieldsOf(block);
      this.#lastEventId = id ?? this.#lastEventId;
      if (event === undefined || data === undefined) continue;
      const content: unknown = JSON.parse(data);
      if (event === 'done') {
        const { reason } = content as { readonly reason: string }; // As every `done` has it.
        if (!passing.includes(reason)) this.#endReason = reason;
        return;
      }
      // The server holds each event to the operation's schema, from which this type was derived.
      yield { id, event, data: content } as Event;
    }
  }
}

/** The fields of one block of server-sent events; comments and what we do not know are passed over. */
function fieldsOf(block: string): { readonly id?: string; readonly event?: string; readonly data?: string } {
  const pairs = block.split('\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
  });
  return Object.fromEntries(pairs.filter(([name]) => ['id', 'event', 'data'].includes(name)));
}
