import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Answers items as NDJSON, one a line, never faster than the client reads; ends the source when the client goes away.
 * A fault before the first item is thrown while the answer can still say so; later ones cut the answer short, which a
 * client sees as an unfinished transfer.
 */
export async function sendLines(
  response: ServerResponse,
  headers: readonly string[],
  items: AsyncIterable<unknown>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  response.writeHead(200, [...headers, 'Content-Type', 'application/x-ndjson; charset=utf-8']);
  try {
    await pipeline(Readable.from(linesOf(first, iterator)), response);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

async function* linesOf(first: IteratorResult<unknown>, rest: AsyncIterator<unknown>): AsyncIterable<string> {
  try {
    for (let item = first; !item.done; item = await rest.next()) yield `${JSON.stringify(item.value)}\n`;
  } finally {
    await rest.return?.();
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
