import type { Asked } from './connection.js';

/** A success with everything the server answered about it. */
export interface Answer<Data> {
  readonly data: Data;
  /** Names the call in logs and in the audit trail. */
  readonly correlationId: string;
  /** Where in the log the command stands; reads that are given it as `minPosition` show the command. Undefined for reads. */
  readonly position: string | undefined;
  /** The command had been done before under its idempotency key; this is its answer again. */
  readonly replayed: boolean;
  /** The entity tag, for `ifMatch`, of what has one. */
  readonly etag: string | undefined;
  /** What the call cost, in millionths of a US dollar. */
  readonly chargeMicros: number;
}

/**
 * A call on its way: await it for its data, or ask it for more.
 *
 * @example
 * const thread = await client.threads.create();
 * const { data, position, replayed } = await client.threads.create().withMeta();
 */
export class Call<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #asked: Promise<Asked>;

  /** @internal The client makes it. */
  constructor(asked: Promise<Asked>) {
    this.#asked = asked;
  }

  /** The data with everything the server answered about it. Rejects with `PalimpsestError`, as the call itself does. */
  async withMeta(): Promise<Answer<Data>> {
    const { data, correlationId, position, replayed = false, etag, charge } = await this.#asked;
    // The server holds each answer to the operation's schema, from which this type was derived.
    return { data: data as Data, correlationId, position, replayed, etag, chargeMicros: charge?.micros ?? 0 };
  }

  then<Value = Data, Fallback = never>(
    onData?: ((data: Data) => Value | PromiseLike<Value>) | null,
    onFault?: ((fault: unknown) => Fallback | PromiseLike<Fallback>) | null,
  ): Promise<Value | Fallback> {
    return this.withMeta()
      .then(({ data }) => data)
      .then(onData, onFault);
  }

  catch<Fallback = never>(
    onFault?: ((fault: unknown) => Fallback | PromiseLike<Fallback>) | null,
  ): Promise<Data | Fallback> {
    return this.then(undefined, onFault);
  }

  finally(onFinally?: (() => void) | null): Promise<Data> {
    return this.then().finally(onFinally);
  }
}
