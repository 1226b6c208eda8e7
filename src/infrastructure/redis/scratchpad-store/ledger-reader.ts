import { Semaphore } from 'async-mutex';
import type { LedgerElements } from '../../../application/ports/ledger-store.js';
import { readElements, readHeader } from './entry-form.js';
import type { PadScripts } from './scripts.js';

/** About the size of one reply, in bytes. Why: all share one connection and wait for it. */
const pieceBytes = 512 * 1024;
/** Replies of that size under way at once, at most. */
const atOnce = 4;
/** So few elements are no large reply; they are read at once. */
const fewElements = 8;

interface Piece {
  readonly elements: readonly string[];
  readonly length: number;
  readonly header: ReturnType<typeof readHeader>;
}

/** Reads ledgers in pieces. Why: one connection serves all, so a large reply delays every other call. */
export class LedgerReader {
  private readonly largeReads = new Semaphore(atOnce);

  constructor(private readonly redis: Pick<PadScripts, 'padRead'>) {}

  /** Elements with index above `after`, at most `limit`; undefined when there is no list. */
  async after(list: string, after: number, limit: number): Promise<LedgerElements | undefined> {
    const elements: string[] = [];
    let first: Piece | undefined;
    for (;;) {
      const piece = await this.piece(list, after + 1 + elements.length, 1, limit - elements.length, pieceBytes);
      if (!piece) return undefined;
      first ??= piece;
      // Cleared or reordered meanwhile: the pieces are of two lists.
      if (!isSame(first, piece)) return this.after(list, after, limit);
      elements.push(...piece.elements);
      if (elements.length >= limit || after + elements.length >= piece.length) {
        return { ...readElements(elements, after + 1), length: piece.length, ...piece.header };
      }
    }
  }

  /** The last elements, at most `limit`, and of them no more than `bytes`, but one. */
  async last(list: string, limit: number, bytes: number): Promise<LedgerElements | undefined> {
    const piece = await this.piece(list, 0, -1, limit, bytes);
    if (!piece) return undefined;
    const { length, header } = piece;
    const elements = piece.elements.toReversed();
    return { ...readElements(elements, length - elements.length + 1), length, ...header };
  }

  private async piece(list: string, from: number, way: 1 | -1, limit: number, bytes: number) {
    const read = async (): Promise<Piece | undefined> => {
      const [length, header, elements] = await this.redis.padRead(list, from, way, limit, bytes);
      return header === null ? undefined : { elements, length: length - 1, header: readHeader(header) };
    };
    return limit > fewElements ? this.largeReads.runExclusive(read) : read();
  }
}

const isSame = (a: Piece, b: Piece): boolean =>
  a.header.generation === b.header.generation && a.header.layoutVersion === b.header.layoutVersion;
