import type { Api } from './api.js';
import { connect, type Connection } from './connection.js';
import { methodsOf } from './methods.js';
import type { PalimpsestOptions } from './options.js';
import { table } from './table.js';

function Families(this: object, connection: Connection): void {
  Object.assign(this, methodsOf(table, connection));
}

// The class gets its members from the table, which has an entry for each operation of the registry; the type is derived
// from the same registry, and a test calls every one.
const DerivedFamilies = Families as unknown as new (connection: unknown) => Api;

/**
 * A client of one server, as one API key. Each operation is a method, `scratchpad.entry.append` for example
 * `client.scratchpads.entries.append(id, input, options)`: ids of the path first, then the input, then options. Commands
 * and reads answer a {@link Call}, lists a {@link Listing}, exports {@link Lines}, events a {@link Following}. All of them
 * fail with a {@link PalimpsestError}.
 *
 * What fails for a while is tried again; a command under its own idempotency key, so that it happens once.
 *
 * @example
 * const client = new Palimpsest({ url: 'http://127.0.0.1:4700', apiKey });
 * const thread = await client.threads.create();
 * const scratchpad = await client.scratchpads.create({ threadId: thread.id });
 */
export class Palimpsest extends DerivedFamilies {
  readonly #connection: Connection;

  /** Throws a `TypeError` when the options cannot be right. Asks the server nothing. */
  constructor(options: PalimpsestOptions) {
    const connection = connect(options);
    super(connection);
    this.#connection = connection;
  }

  /** Where the server is. */
  get url(): string {
    return this.#connection.url;
  }

  /**
   * The last position in the log that this client has written. Reads wait for it; another client that is made with it
   * reads this one's writes too. Undefined when nothing has been written.
   */
  get position(): string | undefined {
    return this.#connection.position();
  }

  /** What printing shows: never the key. */
  toJSON(): { readonly url: string } {
    return { url: this.url };
  }

  /** @internal The same, for `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Palimpsest { url: '${this.url}' }`;
  }
}
