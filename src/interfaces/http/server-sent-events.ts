import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { LiveStream, LiveMessage } from '../../application/gateway/live-stream.js';

/** A comment goes out this often when nothing else does, so that nothing between takes the connection for dead. */
const beatEveryMs = 10_000;
/** A client that has read nothing for so long is cut off; it resumes when it is back. */
const readWithinMs = 30_000;
/** How long a client waits before it connects again, unless it knows better. */
const retryMs = 1_000;

/**
 * Answers what happens as server-sent events, never faster than the client reads, until there is no more, the client
 * leaves or the process ends. The first block only says where it begins, for clients that are cut off before the first event.
 */
export async function sendEvents(
  response: ServerResponse,
  headers: readonly string[],
  events: LiveStream,
  ending: AbortSignal,
): Promise<void> {
  const leave = () => void events.return();
  const end = () => events.end('server_stopping');
  const beat = setInterval(() => !response.writableNeedDrain && response.write(': still here\n\n'), beatEveryMs);
  response.on('close', leave);
  ending.addEventListener('abort', end);
  if (ending.aborted) end();
  try {
    if (response.destroyed) return;
    response.writeHead(200, [
      ...headers,
      'Content-Type',
      'text/event-stream; charset=utf-8',
      'X-Accel-Buffering',
      'no',
    ]);
    response.write(`retry: ${retryMs}\nid: ${events.after}\n\n`);
    for await (const event of events) await written(response, blockOf(event));
    response.end();
  } catch (fault) {
    response.destroy();
    throw fault;
  } finally {
    clearInterval(beat);
    ending.removeEventListener('abort', end);
    response.off('close', leave);
    leave();
  }
}

/** JSON has no line breaks of its own, so the data is one line. */
const blockOf = ({ id, event, data }: LiveMessage): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

async function written(response: ServerResponse, block: string): Promise<void> {
  if (response.destroyed || response.write(block)) return;
  const gone = new AbortController();
  const stalled = setTimeout(() => response.destroy(), readWithinMs);
  const close = () => gone.abort();
  response.once('close', close);
  try {
    await once(response, 'drain', { signal: gone.signal });
  } catch (fault) {
    if (!gone.signal.aborted) throw fault;
  } finally {
    clearTimeout(stalled);
    response.off('close', close);
  }
}
