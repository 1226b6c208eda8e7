import type { Asked } from './connection.js';

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** For `cursor`; null on the last page. */
  readonly nextCursor: string | null;
  /** Ranges of the list's own numbering, within this page, whose items are known to be lost. */
  readonly lost: readonly { readonly from: number; readonly to: number }[];
  readonly correlationId: string;
}

/**
 * A list, read page by page as it is iterated; `limit` of the input is the size of a page. Nothing is asked before.
 *
 * @example
 * for await (const entry of client.scratchpads.entries.list(id)) console.log(entry.content);
 */
export class Listing<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Asked>;

  /** @internal The client makes it. */
  constructor(read: (cursor: string | undefined) => Promise<Asked>) {
    this.#read = read;
  }

  /** Every item, from the `cursor` of the input on. Throws `PalimpsestError`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const { items } of this.pages()) yield* items;
  }

  /** The same, page by page. */
  async *pages(): AsyncGenerator<Page<Item>, void> {
    let cursor: string | undefined;
    do {
      const page = await this.page(cursor);
      yield page;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** One page: the one at this cursor, or the first. */
  async page(cursor?: string): Promise<Page<Item>> {
    const { data, page, correlationId } = await this.#read(cursor);
    // The server holds each item to the operation's schema, from which this type was derived.
    return { items: data as Item[], nextCursor: page?.nextCursor ?? null, lost: page?.lost ?? [], correlationId };
  }

  /** All items in memory, so better for short lists. */
  async toArray(): Promise<Item[]> {
    const all: Item[] = [];
    for await (const item of this) all.push(item);
    return all;
  }
}
