/** The parts of a text that comes in pieces, between separators. What no separator ends is no part. */
export async function* partsOf(pieces: AsyncIterable<string>, separator: string): AsyncGenerator<string, void> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    let from = 0;
    for (let end = text.indexOf(separator); end >= 0; end = text.indexOf(separator, from)) {
      yield text.slice(from, end);
      from = end + separator.length;
    }
    text = text.slice(from);
  }
}

/**
 * An answer without a known end, handed on item by item and never faster than it is read. Each iteration asks anew.
 *
 * @example
 * for await (const event of client.audit.export()) console.log(event.position);
 */
export class Lines<Item> implements AsyncIterable<Item> {
  readonly #begin: () => Promise<AsyncIterable<string>>;

  /** @internal The client makes it. */
  constructor(begin: () => Promise<AsyncIterable<string>>) {
    this.#begin = begin;
  }

  /** Throws `PalimpsestError`: `connection_failed` when it was cut short, and then the items so far are all there were. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    // The server holds each item to the operation's schema, from which this type was derived.
    for await (const line of partsOf(await this.#begin(), '\n')) yield JSON.parse(line) as Item;
  }
}
