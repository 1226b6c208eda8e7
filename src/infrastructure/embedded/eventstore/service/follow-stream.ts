import type { Engine } from '../engine/engine.js';
import { TOMBSTONE_REVISION, type StoredEvent } from '../engine/events.js';
import type { View } from '../engine/stream-reader.js';
import type { Call } from '../grpc/call.js';
import { caughtUpFrame } from '../protocol/read-response.js';
import type { ReadRange } from '../store/storage.js';
import { streamDeleted } from './errors.js';
import type { EventSender } from './event-sender.js';
import { fromStorage } from './from-storage.js';
import { Alarm } from './wake.js';

/** Follows one stream from behind a revision on. Ends with an error when the stream is tombstoned. */
export async function followStream(
  engine: Engine,
  call: Call,
  stream: string,
  from: number | 'start' | 'end',
  sender: EventSender,
): Promise<void> {
  const alarm = new Alarm(engine, call, stream);
  const asked = typeof from === 'number' ? from : -1;
  let cursor = asked;
  if (from === 'end') cursor = (await viewOf(engine, call, stream))?.last ?? -1;
  // Everything up to this position has been looked at.
  let seen = -1;
  let live = false;
  while (call.open) {
    const recent = seen < 0 || !engine.serving ? undefined : engine.recent.after(seen);
    if (recent === undefined) {
      const { watermark, turn } = engine;
      if (seen >= 0) cursor = Math.max(asked, await kept(engine, call, stream, cursor, seen));
      const reached = await catchUp(engine, call, stream, cursor, turn, sender);
      cursor = reached.revision;
      // Storage shows what was committed since, too.
      seen = Math.max(seen, reached.position, reached.isEnd ? watermark : -1);
      if (!reached.isEnd) continue;
      if (!live) await sender.write(caughtUpFrame());
      live = true;
      if (engine.serving) continue;
    } else if (recent.length > 0) {
      seen = recent.at(-1)?.position ?? seen;
      const mine = recent.filter((event) => event.stream === stream && event.revision > cursor);
      cursor = mine.at(-1)?.revision ?? cursor;
      await sendUntilTombstone(mine, stream, (events) => sender.sendShared(events, false));
      continue;
    }
    await alarm.sleep();
  }
}

/**
 * The last revision up to `cursor` that was there when everything up to `position` had been looked at. It is lower than
 * the last one sent only where the database lost the end of its log, and other events may stand there now.
 */
async function kept(engine: Engine, call: Call, stream: string, cursor: number, position: number): Promise<number> {
  for (let from = cursor; from >= 0;) {
    const range = { from, backwards: true, limit: 1 };
    const [event] = (await fromStorage(engine, call, () => engine.store.readStream(stream, range))) ?? [];
    if (!event || event.position <= position) return event?.revision ?? -1;
    from = event.revision - 1;
  }
  return -1;
}

/** Where the last event stands that was sent, if any was. */
interface Reached extends Pick<StoredEvent, 'revision' | 'position'> {
  /** False when what follows in storage may not be what followed before. */
  readonly isEnd: boolean;
}

/**
 * Sends what storage has of the stream behind `cursor`, and answers how far that went. It breaks off when `turn` is
 * over: the database may have lost the end of its log.
 */
async function catchUp(
  engine: Engine,
  call: Call,
  stream: string,
  cursor: number,
  turn: number,
  sender: EventSender,
): Promise<Reached> {
  let [revision, position] = [cursor, -1];
  const view = await viewOf(engine, call, stream);
  if (view?.state === 'tombstoned') throw streamDeleted(stream);
  if (view?.state !== 'readable') return { revision, position, isEnd: true };
  const range = { from: cursor + 1, backwards: false, limit: Number.MAX_SAFE_INTEGER };
  const read = async (next: ReadRange): Promise<StoredEvent[]> =>
    (await fromStorage(engine, call, () => engine.store.readStream(stream, next))) ?? [];
  for await (const page of engine.reader.pages(stream, view, range, read)) {
    if (engine.turn !== turn) return { revision, position, isEnd: false };
    ({ revision, position } = page.at(-1) ?? { revision, position });
    await sender.send(page);
    if (!call.open) break;
  }
  return { revision, position, isEnd: true };
}

const viewOf = (engine: Engine, call: Call, stream: string): Promise<View | undefined> =>
  fromStorage(engine, call, () => engine.reader.view(stream));

async function sendUntilTombstone(
  events: StoredEvent[],
  stream: string,
  send: (events: StoredEvent[]) => Promise<void>,
): Promise<void> {
  const tombstone = events.findIndex((event) => event.revision === TOMBSTONE_REVISION);
  if (tombstone < 0) return send(events);
  await send(events.slice(0, tombstone));
  throw streamDeleted(stream);
}
